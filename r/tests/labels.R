# Labels, their names and types, and errors. Every check stops the test.
library(dissent)

votes <- data.frame(task = rep(11:14, each = 3), worker = rep(c("a", "b", "c"), 4),
                    label = factor(c("no", "no", "yes", "yes", "yes", "yes", "no", "no", "no", "yes", "no", "yes"),
                                   levels = c("yes", "no", "maybe")))
estimated <- dissent_labels(votes)
stopifnot(
  identical(colnames(estimated$probabilities), c("yes", "no", "maybe")),
  identical(levels(estimated$labels$label), c("yes", "no", "maybe")),
  all(abs(rowSums(estimated$probabilities) - 1) < 1e-12),
  identical(estimated$labels$task, 11:14),
  identical(as.character(estimated$labels$label), c("no", "yes", "no", "yes")),
  identical(estimated$workers$votes, rep(4, 3)))

# Majority shares are known by hand.
shares <- dissent_labels(votes, method = "standard")
stopifnot(all.equal(unname(shares$probabilities[, "yes"]), c(1, 3, 0, 2) / 3))
frame <- as.data.frame(shares, probabilities = TRUE)
stopifnot(identical(names(frame), c("task", "label", "probability", "entropy", "p:yes", "p:no", "p:maybe")),
          all.equal(frame$entropy[1], -(1 / 3 * log(1 / 3) + 2 / 3 * log(2 / 3))))

# The order of classes of other types, missing labels, names of columns, known labels, no workers.
numbers <- data.frame(item = c(1, 1, 2, 2), annotator = c("x", "y", "x", "y"), answer = c(10, 2, 2, NA))
stopifnot(identical(colnames(dissent_labels(numbers, method = "majority")$probabilities), c("2", "10")),
          dissent_labels(numbers, method = "majority")$n_missing == 1)
known <- dissent_labels(votes, gold = c("11" = "maybe"))
stopifnot(known$labels$label[1] == "maybe", known$labels$probability[1] > .999)
counted <- dissent_labels(votes[c("task", "label")], method = "standard")
stopifnot(identical(counted$probabilities, shares$probabilities), is.null(counted$workers))

# The same seed gives the same result, with any number of threads.
stopifnot(identical(dissent_labels(votes, threads = 2)$probabilities, estimated$probabilities))

# Errors are R errors of a class, with the message of the library.
fails <- function(expression, class, text) {
  e <- tryCatch(expression, error = identity)
  stopifnot(inherits(e, class), grepl(text, conditionMessage(e)))
}
fails(dissent_labels(votes, method = "dawid-skeen"), "dissent_usage_error", "dawid-skene")
fails(dissent_labels(rbind(votes, votes)), "dissent_data_error", ".")
fails(dissent_labels(votes[c("task", "label")], method = "dawid-skene"), "dissent_data_error", "worker|annotator")
fails(dissent_labels(votes, label = "x"), "dissent_usage_error", "no column \"x\"")
fails(dissent_labels(votes, classes = c("yes", "no")[1]), "error", "not in `classes`")
fails(dissent_labels(1:3), "error", "data frame")
stopifnot("dawid-skene" %in% dissent_methods()$name)

# Ratings with one row per item: a matrix, and a data frame with a column of items; levels of all columns in order.
ratings <- matrix(c("a", "b", "a", NA, "a", "b", "b", "b", "a", "a", "a", "b"), 4,
                  dimnames = list(c("i1", "i2", "i3", "i4"), c("x", "y", "z")))
wide <- dissent_votes(ratings)
stopifnot(nrow(wide) == 11, identical(names(wide), c("task", "worker", "label")), !anyNA(wide$label),
          identical(dissent_labels(ratings)$probabilities, dissent_labels(wide)$probabilities),
          identical(unique(wide$task), c("i1", "i2", "i3", "i4")))
frame <- data.frame(photo = 1:3, ann = factor(c("lo", "hi", "lo"), c("lo", "hi")), bob = factor(c("hi", "hi", "mid"), c("lo", "mid", "hi")))
stopifnot(identical(levels(dissent_votes(frame, task = "photo")$label), c("lo", "hi", "mid")),
          identical(dissent_votes(frame, task = "photo", workers = "bob")$worker, rep("bob", 3)),
          is.ordered(dissent_votes(transform(frame, ann = ordered(bob), bob = ordered(bob)), task = "photo")$label))
fails(dissent_votes(frame, task = "item"), "error", "no column \"item\"")
fails(dissent_votes(rbind(frame, frame), task = "photo"), "error", "each item once")
fails(dissent_agreement(frame), "dissent_error", "dissent_votes")
fails(dissent_labels(transform(votes, label = I(as.list(as.character(label))))), "dissent_error", "plain values")

# Counts of labels per item.
counts <- dissent_labels(table(votes$task, votes$label), method = "standard")
stopifnot(identical(counts$probabilities, shares$probabilities))

# An interrupt during a call is an R interrupt, and R continues.
big <- data.frame(task = rep(1:20000, each = 5), worker = sample(300, 1e5, replace = TRUE), label = sample(8, 1e5, replace = TRUE))
if (.Platform$OS.type == "unix" && nzchar(Sys.which("sh"))) {
  system(sprintf("(sleep 1; kill -INT %d) &", Sys.getpid()))
  seen <- tryCatch({
    for (i in 1:1000) dissent_labels(big, method = "dawid-skene:iterations=100000,tolerance=0", duplicates = "all")
    "finished"
  }, interrupt = function(e) "interrupted")
  stopifnot(seen == "interrupted", nrow(dissent_labels(votes)$labels) == 4)
}
print(estimated)
print(summary(estimated))
