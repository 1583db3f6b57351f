/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of bringupd for Prometheus. */
#ifndef BU_API_METRICS_H
#define BU_API_METRICS_H

#include "model/metric.h"

/* Ends with a NULL name. get takes the struct bu_api. */
extern const struct bu_metric bu_api_metrics[];

#endif
