/* certificate.h: shared by the code that writes and reads certificates. */
#ifndef DIS_JUDGE_CERTIFICATE_H
#define DIS_JUDGE_CERTIFICATE_H

#define DIS_CERTIFICATE_FORMAT "dissent-judge-certificate"
enum { DIS_CERTIFICATE_SCHEMA = 1 };

#endif
