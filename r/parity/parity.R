# Agreement coefficients of dissent against those of psych and vcd (Debian: r-cran-psych, r-cran-vcd), on simulated votes.
# Rscript r/parity/parity.R WRITE_TO: also writes votes and dissent's values, for parity.py.
library(dissent)
folder <- commandArgs(TRUE)[1]
largest <- 0
compare <- function(name, ours, theirs) {
  largest <<- max(largest, abs(ours - theirs))
  cat(sprintf("%-34s %.12f %.12f\n", name, ours, theirs))
  if (!isTRUE(abs(ours - theirs) < 1e-9)) stop(name, ": the values differ")
}
rows <- list()
n_compared <- 0
for (seed in 1:20) {
  set.seed(seed)
  k <- 2 + seed %% 4
  n <- 50 + 10 * seed
  truth <- sample(k, n, replace = TRUE)
  votes <- expand.grid(task = seq_len(n), worker = c("a", "b", "c"))
  votes$label <- ifelse(runif(nrow(votes)) < .6, truth[votes$task], sample(k, nrow(votes), replace = TRUE))
  wide <- matrix(votes$label, n)
  agreement <- dissent_agreement(votes, resamples = 0, classes = seq_len(k))
  pair <- agreement$pairs[agreement$pairs$a == "a" & agreement$pairs$b == "b", ]
  square <- table(factor(wide[, 1], 1:k), factor(wide[, 2], 1:k))
  linear <- 1 - abs(outer(1:k, 1:k, "-")) / (k - 1)
  if (requireNamespace("psych", quietly = TRUE)) {
    kappa <- suppressWarnings(psych::cohen.kappa(wide[, 1:2]))
    compare(paste("cohen, psych, seed", seed), pair$cohen, kappa$kappa)
    compare(paste("cohen quadratic, psych, seed", seed), pair$cohen_quadratic, kappa$weighted.kappa)
    n_compared <- n_compared + 2
  }
  if (requireNamespace("vcd", quietly = TRUE)) {
    plain <- vcd::Kappa(square)
    compare(paste("cohen, vcd, seed", seed), pair$cohen, plain$Unweighted[["value"]])
    compare(paste("cohen linear, vcd, seed", seed), pair$cohen_linear, vcd::Kappa(square, linear)$Weighted[["value"]])
    compare(paste("cohen quadratic, vcd, seed", seed), pair$cohen_quadratic,
            vcd::Kappa(square, weights = "Fleiss-Cohen")$Weighted[["value"]])
    n_compared <- n_compared + 3
  }
  votes <- votes[runif(nrow(votes)) < .8, ]
  sparse <- dissent_agreement(votes, resamples = 0, classes = seq_len(k))$measures
  for (level in c("nominal", "ordinal", "interval", "ratio"))
    rows[[length(rows) + 1]] <- data.frame(seed = seed, level = level, value = sparse$value[sparse$measure == paste0("alpha_", level)])
  if (!is.na(folder)) write.csv(votes, file.path(folder, sprintf("votes-%d.csv", seed)), row.names = FALSE)
}
if (!is.na(folder)) write.csv(do.call(rbind, rows), file.path(folder, "alpha.csv"), row.names = FALSE)
if (n_compared == 0) {
  cat("skipped: neither psych nor vcd is installed\n")
  quit(status = 77)
}
cat(sprintf("%d values agree; the largest difference is %.1e\n", n_compared, largest))
