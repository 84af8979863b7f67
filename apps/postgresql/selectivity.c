/*
 * What the planner should expect of a lookup: the keys of the filter among those of the column, and
 * the false positives among the others. Without this it assumes a third of the rows.
 */
#include "module.h"
/* It has postgres.h, which comes before all other headers. */
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

PG_FUNCTION_INFO_V1(pgbloom_restriction);
PG_FUNCTION_INFO_V1(pgbloom_support);

/* When the filter is known only when the query runs; filters are asked because few rows pass. */
static const double unknown_share = 0.05;

static double share_of_rows(PlannerInfo* root, List* args, int relation) {
  Node* filter = estimate_expression_value(root, linitial(args));
  held_filter* held = NULL;
  bloomery_filter_info info = {.struct_bytes = sizeof info};
  VariableStatData column;
  bool is_default = false;
  double different = 0;
  double share = 0;
  if (!IsA(filter, Const)) return unknown_share;
  if (((Const*)filter)->constisnull) return 0;
  held = copy_filter(((Const*)filter)->constvalue);
  report_failure(bloomery_info_header(held->filter, &info));
  examine_variable(root, lsecond(args), relation, &column);
  different = get_variable_numdistinct(&column, &is_default);
  ReleaseVariableStats(column);
  share = different > 0 ? (double)info.keys / different : 1;
  if (share > 1) share = 1;
  return share + (1 - share) * info.fpr_target;
}

/* For the operator. */
Datum pgbloom_restriction(PG_FUNCTION_ARGS) {
  PlannerInfo* root = (PlannerInfo*)PG_GETARG_POINTER(0);
  List* args = (List*)PG_GETARG_POINTER(2);
  double share = share_of_rows(root, args, PG_GETARG_INT32(3));
  CLAMP_PROBABILITY(share);
  PG_RETURN_FLOAT8(share);
}

/* For the function. */
Datum pgbloom_support(PG_FUNCTION_ARGS) {
  Node* request = (Node*)PG_GETARG_POINTER(0);
  if (IsA(request, SupportRequestSelectivity)) {
    SupportRequestSelectivity* asked = (SupportRequestSelectivity*)request;
    if (list_length(asked->args) != 2 || asked->is_join) PG_RETURN_POINTER(NULL);
    asked->selectivity = share_of_rows(asked->root, asked->args, asked->varRelid);
    CLAMP_PROBABILITY(asked->selectivity);
    PG_RETURN_POINTER(asked);
  }
  PG_RETURN_POINTER(NULL);
}
