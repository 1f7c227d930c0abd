/* dissent.h: everything. See each header for what it is for; fit.h and combine.h are the heart. */
#ifndef DISSENT_H
#define DISSENT_H
#include "dissent/status.h"
#include "dissent/version.h"
#include "dissent/context.h"
#include "dissent/names.h"
#include "dissent/option.h"
#include "dissent/votes.h"
#include "dissent/labels.h"
#include "dissent/items.h"
#include "dissent/align.h"
#include "dissent/metric.h"
#include "dissent/agreement.h"
#include "dissent/fit.h"
#include "dissent/combine.h"
#include "dissent/compare.h"
#include "dissent/views.h"
#include "dissent/synth.h"
#include "dissent/report.h"
#include "dissent/file.h"
#include "dissent/json.h"
#include "dissent/table.h"
#endif
