# Votes from a data frame, and what all calls of the library share.

# The result of a call: an error of the library becomes an R error, an interrupt of the user an R interrupt.
call_library <- function(result, call = sys.call(-1)) {
  if (is.null(result)) {
    condition <- structure(list(message = "interrupted", call = call), class = c("interrupt", "condition"))
    signalCondition(condition)
    invokeRestart("abort")
  }
  if (inherits(result, "dissent_failure")) {
    kind <- c("bug", "usage", "data", "io", "limit", "not_converged")[result$status]
    stop(structure(list(message = result$message, call = call),
                   class = c(paste0("dissent_", kind, "_error"), "dissent_error", "error", "condition")))
  }
  result
}

n_threads <- function(threads) {
  if (!is.numeric(threads) || length(threads) != 1 || is.na(threads) || threads < 0)
    stop("`threads` must be one number, 0 for all cores", call. = FALSE)
  as.integer(threads)
}

one_number <- function(x, name, least = 0) {
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x < least)
    stop(sprintf("`%s` must be one number, %s or more", name, format(least)), call. = FALSE)
  as.double(x)
}

# The name of the column with a role: the one that the caller names, else the usual names of the role.
find_column <- function(data, name, role, required = TRUE) {
  roles <- c(task = 0L, worker = 1L, label = 2L)
  if (!is.null(name)) {
    if (!is.character(name) || length(name) != 1 || !name %in% names(data))
      stop(sprintf("the votes have no column %s; the columns are %s", deparse(name), paste(names(data), collapse = ", ")),
           call. = FALSE)
    return(name)
  }
  found <- .Call(dissent_r_find_column, roles[[role]], enc2utf8(names(data)))
  if (length(found) == 2)
    stop(sprintf("the %s could be column %s or %s; pass the argument `%s`", role, names(data)[found[1]],
                 names(data)[found[2]], role), call. = FALSE)
  if (length(found) == 1) return(names(data)[found])
  if (required)
    stop(sprintf("the votes have no column for the %s; pass the argument `%s`; the columns are %s", role, role,
                 paste(names(data), collapse = ", ")), call. = FALSE)
  NULL
}

# Classes in their order: levels of a factor, integers by value, other labels by bytes.
class_order <- function(label) {
  if (is.factor(label)) return(levels(label))
  found <- unique(label[!is.na(label)])
  if (is.character(found) && !all(grepl("^[+-]?[0-9]+$", found))) return(sort(enc2utf8(found), method = "radix"))
  if (is.character(found)) return(found[order(as.numeric(found))])
  as.character(sort(found))
}

# Labels, or anything that is compared with classes, as text.
as_text <- function(x) enc2utf8(as.character(x))

# A table of votes: the library's object, and names in R. Rows with a missing label are no votes.
read_votes <- function(votes, task = NULL, worker = NULL, label = NULL, classes = NULL, duplicates = "error",
                       need_workers = FALSE) {
  if (!is.data.frame(votes)) stop("`votes` must be a data frame with one row per vote", call. = FALSE)
  choices <- c("error", "first", "last", "all")
  duplicates <- match.arg(duplicates, choices)
  task <- find_column(votes, task, "task")
  worker <- find_column(votes, worker, "worker", required = need_workers)
  label <- find_column(votes, label, "label")
  labels <- votes[[label]]
  keep <- !is.na(labels)
  labels <- labels[keep]
  if (length(labels) == 0) stop(sprintf("column %s has no labels", label), call. = FALSE)
  ids <- function(name) {
    x <- votes[[name]][keep]
    if (anyNA(x)) stop(sprintf("column %s: row %d is missing", name, which(keep)[which(is.na(x))[1]]), call. = FALSE)
    x
  }
  tasks <- ids(task)
  task_values <- unique(tasks)
  order <- if (is.null(classes)) class_order(labels) else as_text(classes)
  code <- match(as_text(labels), order) - 1L
  if (anyNA(code))
    stop(sprintf("column %s: row %d: label %s is not in `classes`", label, which(keep)[which(is.na(code))[1]],
                 as_text(labels[is.na(code)][1])), call. = FALSE)
  task_code <- match(tasks, task_values) - 1L
  ordered <- is.ordered(labels)
  out <- list(tasks = task_values, classes = order, ordered = ordered, n_missing = sum(!keep), n_votes = length(labels))
  if (is.null(worker)) {
    counts <- matrix(0, length(order), length(task_values))
    cell <- tabulate(task_code * length(order) + code + 1L, length(counts))
    counts[] <- as.double(cell)
    out$handle <- call_library(.Call(dissent_r_counts, counts, as_text(task_values), as_text(order)))
    return(out)
  }
  workers <- ids(worker)
  out$workers <- unique(workers)
  out$handle <- call_library(.Call(dissent_r_votes, task_code, match(workers, out$workers) - 1L, code,
                                   as_text(task_values), as_text(out$workers), as_text(order),
                                   match(duplicates, choices) - 1L, ordered))
  out
}

# Known classes as indices from 0, -1 where none is known. `gold`: a data frame with task and label, or a named vector.
gold_codes <- function(gold, votes) {
  if (is.null(gold)) return(NULL)
  if (is.data.frame(gold)) {
    task <- gold[[find_column(gold, NULL, "task")]]
    label <- gold[[find_column(gold, NULL, "label")]]
  } else {
    task <- names(gold)
    label <- gold
    if (is.null(task)) stop("`gold` must be a data frame with task and label, or a vector with names", call. = FALSE)
  }
  at <- match(as_text(task), as_text(votes$tasks))
  code <- match(as_text(label), votes$classes)
  unknown <- is.na(code) & !is.na(label)
  if (any(unknown)) stop(sprintf("`gold`: label %s is not one of the classes", as_text(label[unknown][1])), call. = FALSE)
  if (anyDuplicated(at[!is.na(at)])) stop("`gold` has a task twice", call. = FALSE)
  if (anyNA(at)) warning(sprintf("`gold`: %d tasks have no votes", sum(is.na(at))), call. = FALSE)
  out <- rep(-1L, length(votes$tasks))
  use <- !is.na(at) & !is.na(code)
  out[at[use]] <- code[use] - 1L
  out
}

method_names <- function(method) {
  if (is.null(method)) return(character())
  if (!is.character(method) || anyNA(method)) stop("`method` must be names of methods; see dissent_methods()", call. = FALSE)
  enc2utf8(method)
}

combine_name <- function(combine) if (is.null(combine)) NULL else enc2utf8(as.character(combine)[1])

# An index from 1 as a class.
as_class <- function(index, votes) {
  factor(votes$classes[index], levels = votes$classes, ordered = votes$ordered)
}

frame <- function(columns) as.data.frame(columns, optional = TRUE, stringsAsFactors = FALSE)

dissent_methods <- function() frame(.Call(dissent_r_methods))
