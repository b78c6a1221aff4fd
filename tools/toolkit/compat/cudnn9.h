/* What gorgonia.org/cu/dnn v0.9.6 names of cuDNN 8 and cuDNN 9 has removed. None of it has to do with
 * convolutions: the calls say that they are not supported. */
#ifndef NMN_CUDNN9_H
#define NMN_CUDNN9_H
#if !defined(__ASSEMBLER__) && CUDNN_MAJOR >= 9
#include <stddef.h>
#define NMN_REMOVED(name, ...) \
  static inline __attribute__((unused)) cudnnStatus_t name(__VA_ARGS__) { return CUDNN_STATUS_NOT_SUPPORTED; }

typedef struct nmn_removed_algorithm *cudnnAlgorithmDescriptor_t;
typedef struct nmn_removed_performance *cudnnAlgorithmPerformance_t;
typedef struct nmn_removed_rnn_plan *cudnnPersistentRNNPlan_t;
typedef struct {
  union {
    cudnnConvolutionFwdAlgo_t convFwdAlgo;
    cudnnConvolutionBwdFilterAlgo_t convBwdFilterAlgo;
    cudnnConvolutionBwdDataAlgo_t convBwdDataAlgo;
    cudnnRNNAlgo_t RNNAlgo;
    cudnnCTCLossAlgo_t CTCLossAlgo;
  } algo;
} cudnnAlgorithm_t;

NMN_REMOVED(cudnnCreateAlgorithmDescriptor, cudnnAlgorithmDescriptor_t *descriptor)
NMN_REMOVED(cudnnSetAlgorithmDescriptor, cudnnAlgorithmDescriptor_t descriptor, cudnnAlgorithm_t algorithm)
NMN_REMOVED(cudnnDestroyAlgorithmDescriptor, cudnnAlgorithmDescriptor_t descriptor)
NMN_REMOVED(cudnnCreateAlgorithmPerformance, cudnnAlgorithmPerformance_t *performance, int n)
NMN_REMOVED(cudnnSetAlgorithmPerformance, cudnnAlgorithmPerformance_t performance,
            cudnnAlgorithmDescriptor_t descriptor, cudnnStatus_t status, float milliseconds, size_t bytes)
NMN_REMOVED(cudnnDestroyAlgorithmPerformance, cudnnAlgorithmPerformance_t *performance, int n)
NMN_REMOVED(cudnnCreatePersistentRNNPlan, cudnnRNNDescriptor_t rnn, const int batch, const cudnnDataType_t type,
            cudnnPersistentRNNPlan_t *plan)
NMN_REMOVED(cudnnDestroyPersistentRNNPlan, cudnnPersistentRNNPlan_t plan)
NMN_REMOVED(cudnnSetPersistentRNNPlan, cudnnRNNDescriptor_t rnn, cudnnPersistentRNNPlan_t plan)
NMN_REMOVED(cudnnSetRNNMatrixMathType, cudnnRNNDescriptor_t rnn, cudnnMathType_t type)
#undef NMN_REMOVED
#endif
#endif
