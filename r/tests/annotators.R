# Agreement against values computed by hand in R, review and panel of simulated crowds with known truth.
library(dissent)

set.seed(3)
n <- 300
truth <- sample(3, n, replace = TRUE)
votes <- expand.grid(task = seq_len(n), worker = c(paste0("w", 1:5), "random", "same"), stringsAsFactors = FALSE)
right <- runif(nrow(votes)) < .8
votes$label <- ifelse(right, truth[votes$task], sample(3, nrow(votes), replace = TRUE))
votes$label[votes$worker == "random"] <- sample(3, n, replace = TRUE)
votes$label[votes$worker == "same"] <- 2

good <- votes[votes$worker %in% c("w1", "w2"), ]
agreement <- dissent_agreement(good, resamples = 0)
a <- good$label[good$worker == "w1"]
b <- good$label[good$worker == "w2"]
observed <- mean(a == b)
table <- table(factor(a, 1:3), factor(b, 1:3)) / n
expected <- sum(rowSums(table) * colSums(table))
both <- (rowSums(table) + colSums(table)) / 2
value <- function(x, name) x$measures$value[x$measures$measure == name]
stopifnot(all.equal(value(agreement, "percent"), observed),
          all.equal(agreement$pairs$cohen, (observed - expected) / (1 - expected)),
          all.equal(value(agreement, "scott"), (observed - sum(both^2)) / (1 - sum(both^2))),
          all.equal(value(agreement, "alpha_nominal"), 1 - (1 - observed) * (2 * n - 1) / (2 * n * (1 - sum(both^2)))))
intervals <- dissent_agreement(votes, resamples = 200)
m <- intervals$measures[intervals$measures$measure == "alpha_nominal", ]
stopifnot(m$low < m$value, m$value < m$high, intervals$chance$verdict == "beyond",
          identical(dissent_agreement(votes, resamples = 200), intervals))
print(intervals)

# An ordered factor has ordinal coefficients.
ordered_votes <- transform(votes, label = factor(c("low", "mid", "high")[label], c("low", "mid", "high"), ordered = TRUE))
plain_votes <- transform(ordered_votes, label = factor(as.character(label), c("low", "mid", "high")))
stopifnot(!is.na(value(dissent_agreement(ordered_votes, resamples = 0), "alpha_ordinal")),
          is.na(value(dissent_agreement(plain_votes, resamples = 0), "alpha_ordinal")))

review <- dissent_review(votes, budget = 20)
verdict <- setNames(as.character(review$workers$verdict), review$workers$worker)
stopifnot(verdict["random"] == "random", verdict["same"] == "constant", all(verdict[paste0("w", 1:5)] == "fine"),
          sum(review$items$votes_to_buy) == 20, nrow(review$items) == n)
labels <- dissent_labels(votes)$labels
correct <- mean(as.integer(as.character(labels$label)) == truth)
stopifnot(abs(review$expected_accuracy - correct) < .1)
print(review)

people <- votes[votes$worker %in% paste0("w", 1:5), ]
panel <- dissent_panel(people, judges = "w5")
stopifnot(panel$judges$judge == "w5", panel$judges$above_chance, panel$judges$agreement > .5, panel$n_people == 4)
print(panel)
stopifnot(inherits(tryCatch(dissent_panel(people, judges = "nobody"), error = identity), "error"))

pdf(NULL)
plot(intervals)
plot(review)
plot(panel)
plot(review, main = "Annotators", xlim = c(0, 1))
plot(dissent_labels(votes))
