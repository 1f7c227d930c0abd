/* The style sheet of a report. Colours: Okabe and Ito (2008) for series, in an order whose neighbours differ most; one
 * hue from light to dark for heat maps (turned round on a dark page, so that more is always further from the
 * background). All of them are variables: a dark page and paper only set them anew. */
#include "report/page/svg_files.h"
#include "report/page/page.h"

#define LIGHT                                                                                                  \
    "--paper:#fff;--page:#f6f7f9;--ink:#1a1d21;--soft:#56606b;--line:#e1e5ea;--grid:#eceff2;--accent:#0b63a5;" \
    "--edge:rgba(20,30,40,.16);--shade:0 1px 2px rgba(20,30,40,.06),0 4px 16px rgba(20,30,40,.05);"            \
    "--c0:#0072b2;--c1:#e69f00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#d55e00;--c6:#8c8c8c;--c7:#3b3b3b;" \
    "--o0:#fff;--o1:#1a1d21;--o2:#1a1d21;--o3:#1a1d21;--o4:#1a1d21;--o5:#1a1d21;--o6:#1a1d21;--o7:#fff;"       \
    "--h0:#f3f6fa;--h1:#e0eaf4;--h2:#c9dcee;--h3:#aecbe6;--h4:#8fb8db;--h5:#6ea2ce;--h6:#4f8abf;--h7:#3371aa;" \
    "--h8:#1d5890;--h9:#0b3f73;--lo:#1a1d21;--mid:#1a1d21;--hi:#fff;"
#define DARK                                                                                                      \
    "--paper:#1b1f24;--page:#131619;--ink:#e9ecef;--soft:#a3adb8;--line:#323941;--grid:#2a3037;--accent:#7cc0f5;" \
    "--edge:rgba(0,0,0,.55);--shade:none;"                                                                        \
    "--c0:#4aa3dc;--c1:#e69f00;--c2:#2bbd92;--c3:#d893b9;--c4:#8fd0f5;--c5:#ec7d33;--c6:#9a9a9a;--c7:#d8d8d8;"    \
    "--o0:#10151a;--o1:#10151a;--o2:#10151a;--o3:#10151a;--o4:#10151a;--o5:#10151a;--o6:#10151a;--o7:#10151a;"    \
    "--h0:#20262d;--h1:#213244;--h2:#22405b;--h3:#255073;--h4:#2b628c;--h5:#3a77a5;--h6:#528ebc;--h7:#71a7d2;"    \
    "--h8:#98c2e6;--h9:#c6e0f7;--lo:#e9ecef;--mid:#10151a;--hi:#10151a;"

/* What charts need, in a page and alone. */
#define CHART_TEXTS                                                                                   \
    "svg text{fill:var(--ink)}svg .ax text,svg text.q{fill:var(--soft)}svg text.b{font-weight:600}\n" \
    ".e{text-anchor:end}.m,.c{text-anchor:middle}.at{font-size:12.5px}svg .c{font-size:11px}svg "     \
    ".small{font-size:8.5px}svg .v{font-size:11px}\n"
#define CHART_MARKS                                                                                                   \
    ".g{stroke:var(--grid);fill:none}.t{stroke:var(--soft);stroke-opacity:.55;fill:none}\n"                           \
    ".mean{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:3 3;fill:none}\n"                                      \
    ".ref{stroke:var(--soft);stroke-width:1.2;stroke-dasharray:5 4;fill:none}\n"                                      \
    ".iv{stroke:var(--soft);stroke-opacity:.45;fill:none}.l{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-" \
    "linecap:round}\n"                                                                                                \
    ".p{fill-opacity:.72;stroke:var(--paper);stroke-width:.6}\n"                                                      \
    ".s0{fill:var(--c0)}.s1{fill:var(--c1)}.s2{fill:var(--c2)}.s3{fill:var(--c3)}.s4{fill:var(--c4)}.s5{fill:var(--"  \
    "c5)}"                                                                                                            \
    ".s6{fill:var(--c6)}.s7{fill:var(--c7)}.kinds .s2{fill:var(--c5)}.hit{fill:transparent}\n"                        \
    ".halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}\n"                          \
    ".l0{stroke:var(--c0)}.l1{stroke:var(--c1);stroke-dasharray:7 4}.l2{stroke:var(--c2);stroke-dasharray:2 4}"       \
    ".l3{stroke:var(--c3);stroke-dasharray:9 3 2 3}.l4{stroke:var(--c4)}.l5{stroke:var(--c5);stroke-dasharray:7 4}"   \
    ".l6{stroke:var(--c6);stroke-dasharray:2 4}.l7{stroke:var(--c7);stroke-dasharray:9 3 2 3}\n"                      \
    ".thin{stroke-width:.9;stroke-opacity:.5;stroke-dasharray:none}.whisker{stroke-width:1.4;stroke-opacity:.8}\n"    \
    "svg .on0{fill:var(--o0)}svg .on1{fill:var(--o1)}svg .on2{fill:var(--o2)}svg .on3{fill:var(--o3)}"                \
    "svg .on4{fill:var(--o4)}svg .on5{fill:var(--o5)}svg .on6{fill:var(--o6)}svg .on7{fill:var(--o7)}\n"              \
    "svg [class^=on]{font-size:11.5px}\n"                                                                             \
    ".h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--"  \
    "h5)}"                                                                                                            \
    ".h6{fill:var(--h6)}.h7{fill:var(--h7)}.h8{fill:var(--h8)}.h9{fill:var(--h9)}.none{fill:none;stroke:var(--line);" \
    "stroke-dasharray:2 3}\n"                                                                                         \
    "svg .lo{fill:var(--lo)}svg .mid{fill:var(--mid)}svg .hi{fill:var(--hi)}\n"

const char dis__chart_style[] =
    "svg{color-scheme:light dark;" LIGHT "}\n"
    "@media (prefers-color-scheme:dark){svg{" DARK "}}\n"
    "svg{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;font-variant-numeric:tabular-nums}\n"
    ".paper{fill:var(--paper)}\n" CHART_TEXTS CHART_MARKS;

const char dis__page_style[] =
    ":root{color-scheme:light dark;" LIGHT "}\n"
    "@media (prefers-color-scheme:dark){:root{" DARK "}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}\n"
    "@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}\n"
    ".skip,.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}\n"
    ".skip:focus{position:fixed;z-index:3;top:.5rem;left:.5rem;width:auto;height:auto;clip-path:none;padding:.5rem "
    ".8rem;background:var(--paper);border:2px solid var(--accent);border-radius:8px}main:focus{outline:none}\n"
    ".tip{position:absolute;z-index:2;max-width:20rem;padding:.3rem .55rem;background:var(--ink);color:var(--paper);"
    "border-radius:6px;font-size:.85rem;line-height:1.35;pointer-events:none}g:hover>.hit{fill:var(--grid);"
    "fill-opacity:.6}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,"
    "\"Helvetica Neue\",Arial,\"Noto Sans\",sans-serif;overflow-wrap:anywhere}\n"
    "a{color:var(--accent)}\n"
    ".shell{max-width:1240px;margin:0 auto;padding:0 1rem 4rem}\n"
    "header{padding:2.5rem 0 1.25rem}\n"
    "h1{font-size:clamp(1.6rem,4.5vw,2.3rem);line-height:1.15;letter-spacing:-.02em;margin:0 0 .4rem;font-weight:700}\n"
    "header p{margin:0;color:var(--soft)}\n"
    "h2{font-size:1.45rem;letter-spacing:-.01em;line-height:1.2;margin:3.25rem 0 .25rem}\n"
    "h2+p{margin:.15rem 0 1.1rem;color:var(--soft);max-width:44rem}\n"
    "h3{font-size:1.05rem;line-height:1.3;margin:0}\n"
    ".q{color:var(--soft)}\n"
    ".tiles{display:flex;flex-wrap:wrap;gap:1px;margin:0 0 1rem;padding:0;"
    "background:var(--line);border:1px solid var(--line);border-radius:12px;overflow:hidden;box-shadow:var(--shade)}\n"
    ".tiles div{flex:1 1 6.8rem;background:var(--paper);padding:.8rem .95rem "
    ".75rem;display:flex;flex-direction:column}\n"
    ".tiles dt{order:2;color:var(--soft);font-size:.85rem;line-height:1.35}\n"
    ".tiles dd{order:1;margin:0;font-size:1.45rem;font-weight:650;letter-spacing:-.02em;line-height:1.25;"
    "font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".marked{margin:0;flex:1 1 100%;line-height:1.9}.marked b{margin-right:.5rem}mark{color:inherit;background:none;"
    "border-radius:3px;padding:.1em .2em}mark sub{font-size:.7em;margin-left:.25em}"
    "#models-as-good>.chart>svg{max-width:36rem}mark.open{outline:1.5px dashed var(--soft)}\n"
    ".m0{background:color-mix(in srgb,var(--c0) 30%,transparent)}.m1{background:color-mix(in srgb,var(--c1) "
    "30%,transparent)}.m2{background:color-mix(in srgb,var(--c2) 30%,transparent)}.m3{background:color-mix(in "
    "srgb,var(--c3) 30%,transparent)}."
    "m4{background:color-mix(in srgb,var(--c4) 30%,transparent)}.m5{background:color-mix(in srgb,var(--c5) "
    "30%,transparent)}.m6{background:color-mix(in srgb,var(--c6) 30%,transparent)}.m7{background:color-mix(in "
    "srgb,var(--c7) 30%,transparent)}\n"
    "section+.says{margin-top:1.5rem}\n"
    ".verdict{background:var(--paper);border:1px solid var(--line);border-left:5px solid "
    "var(--accent);border-radius:12px;"
    "padding:1.1rem 1.25rem 1.15rem;margin:0 0 1rem;box-shadow:var(--shade)}\n"
    ".verdict h2{margin:0 0 .4rem;font-size:1.3rem}.verdict p{margin:0;max-width:52rem;color:var(--ink)}\n"
    ".verdict[data-verdict=yes]{border-left-color:var(--c2)}.verdict[data-verdict=care]{border-left-color:var(--c1)}"
    ".verdict[data-verdict=no]{border-left-color:var(--c5)}\n"
    ".says{background:var(--paper);border:1px solid var(--line);border-radius:12px;padding:1.1rem 1.25rem 1.2rem;"
    "box-shadow:var(--shade)}\n"
    ".says h2{margin:0 0 .5rem;font-size:1.1rem;letter-spacing:0}\n"
    ".says ul{margin:0;padding-left:1.15rem;max-width:50rem}\n"
    ".says li{margin:.4rem 0;padding-left:.15rem}.says li::marker{color:var(--accent)}\n"
    "nav{margin:1.25rem 0 1rem;font-size:.93rem}\n"
    "nav>ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:0;padding:0}\n"
    "nav ul ul{display:none}\n"
    "nav a{text-decoration:none;color:var(--soft);display:inline-block;padding:.15rem 0}\n"
    "nav a:hover,nav a:focus{color:var(--accent);text-decoration:underline}\n"
    "nav>ul>li>a{font-weight:600;color:var(--ink)}\n"
    ".figures{display:grid;grid-template-columns:minmax(0,1fr);gap:1rem}\n"
    "figure{margin:0;background:var(--paper);border:1px solid var(--line);border-radius:12px;padding:1.1rem 1.15rem "
    "1rem;"
    "box-shadow:var(--shade);min-width:0;scroll-margin-top:1rem}\n"
    "figcaption p{margin:.3rem 0 .9rem;color:var(--soft);font-size:.94rem;line-height:1.5;max-width:46rem}\n"
    ".chart{display:flex;flex-wrap:wrap;gap:1.1rem 1.5rem}.wide>.chart>svg{flex:1 1 "
    "380px;min-width:0}.wide>.chart>svg:only-child{max-width:32rem}\n"
    "svg{display:block;max-width:100%;height:auto;font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;"
    "font-variant-numeric:tabular-nums;overflow:visible}\n" CHART_TEXTS
    ".one{min-width:0;max-width:100%}.one p{margin:0 0 .35rem;font-size:.88rem;line-height:1.35}.one "
    ".q{display:block}\n"
    ".one.big{flex:1 1 360px;max-width:460px}.one.big svg{width:100%}svg .z{fill:var(--soft)}\n" CHART_MARKS
    "details{margin-top:.7rem;font-size:.93rem}\n"
    "summary{cursor:pointer;color:var(--accent);width:max-content;padding:.1rem 0}\n"
    ".csv{margin:.5rem 0 .6rem;font-size:.9rem}\n"
    ".filter{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center;margin:0 0 .6rem;font-size:.9rem}\n"
    "input{font:inherit;color:inherit;background:var(--page);border:1px solid var(--line);border-radius:8px;"
    "padding:.35rem .6rem;width:15rem;max-width:100%}\n"
    "pre{overflow-x:auto;max-width:100%;background:var(--page);border:1px solid var(--line);border-radius:8px;"
    "padding:.7rem .9rem;font-size:.8rem;white-space:pre;user-select:all}.chart>details{flex:1 1 "
    "100%;min-width:0;margin:0}\n"
    ".scroll table{overflow-wrap:break-word}\n"
    ".alike{margin:.1rem 0 .6rem;font-size:.9rem}\n"
    ".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:linear-gradient(to right,"
    "var(--paper) 40%,transparent) 0 0/2.5rem 100% no-repeat local,linear-gradient(to left,var(--paper) 40%,"
    "transparent) 100% 0/2.5rem 100% no-repeat local,linear-gradient(to right,var(--edge),transparent) 0 0/.8rem 100% "
    "no-repeat,linear-gradient(to left,var(--edge),transparent) 100% 0/.8rem 100% no-repeat}\n"
    ".scroll.whole{max-height:36rem;overflow-y:auto}\n"
    ".cut:not(.found) tbody tr:nth-child(n+11){display:none}.cut:not(.found) tbody "
    "tr:nth-child(10)>*{border-bottom:0}\n"
    ".more{font:inherit;font-size:.9rem;color:var(--accent);background:none;border:1px solid var(--line);border-radius:"
    "8px;padding:.3rem .75rem;margin:.6rem 0 0;cursor:pointer}.more:hover{border-color:var(--accent)}\n"
    "table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.34rem .75rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top;"
    "overflow-wrap:normal}td>bdi,th>bdi,button>bdi{display:inline-block;width:max-content;max-width:18rem;overflow-"
    "wrap:break-word}\n"
    ".long{min-width:17rem;width:56%}.long>bdi{display:inline;max-width:none;overflow-wrap:anywhere}\n"
    ".sub{display:block;color:var(--soft);font-size:.85em;white-space:normal;min-width:5.2rem}tbody "
    "th{font-weight:400}tbody "
    "th>bdi{width:max-content}\n"
    ".said{margin:0;font-size:inherit}.said summary{width:auto;color:inherit;padding:0}.said[open] summary{color:"
    "var(--soft)}.said bdi{overflow-wrap:anywhere}\n"
    "tbody tr:last-child>*{border-bottom:0}\n"
    "thead th{position:sticky;top:0;background:var(--paper);box-shadow:0 1px 0 var(--line);font-weight:600;"
    "vertical-align:bottom}\n"
    ".n{text-align:right;white-space:nowrap}thead .n{white-space:normal}\n"
    "th button{all:unset;cursor:pointer;font:inherit;font-weight:600}\n"
    "th "
    "button:focus-visible,.more:focus-visible,a:focus-visible,summary:focus-visible,input:focus-visible,.scroll:focus-"
    "visible{"
    "outline:2px solid var(--accent);outline-offset:2px}\n"
    "th button::after{content:\"\\2195\";opacity:.75;margin-left:.3em;font-size:.85em}\n"
    "th[aria-sort=ascending] button::after{content:\"\\2191\";opacity:1}\n"
    "th[aria-sort=descending] button::after{content:\"\\2193\";opacity:1}\n"
    "footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.9rem}\n"
    "@media (max-width:480px){.shell{padding:0 .6rem 3rem}figure{padding:.9rem .8rem .8rem}.tiles "
    "div{padding:.65rem .7rem}.tiles dd{font-size:1.2rem}.one:not(.big){flex:1 1 9rem}.one svg{width:100%}}\n"
    /* a phone: rows of a table with sentences become blocks, its heading a row of buttons to sort by */
    "@media (max-width:640px){td>bdi,th>bdi{max-width:11rem}"
    ".wordy,.wordy tbody,.wordy tr,.wordy td,.wordy th{display:block}.wordy thead tr{display:flex;flex-wrap:wrap}"
    ".wordy thead th{box-shadow:none;border:0;position:static;padding:.25rem .5rem;font-size:.85em}"
    ".wordy thead::before{content:\"Sort by\";color:var(--soft);font-size:.8rem;padding:.4rem .5rem 0;display:block}"
    ".wordy tbody tr{padding:.55rem .5rem;border-top:1px solid var(--line)}"
    ".wordy td,.wordy tbody th{border:0;padding:.08rem 0;text-align:left;white-space:normal}"
    ".wordy tbody th{font-weight:600}.wordy td::before{content:attr(data-h) \": \";color:var(--soft)}"
    ".wordy .long{width:auto;min-width:0}.wordy td>bdi{display:inline;max-width:none;overflow-wrap:anywhere}"
    ".wordy td:has(>bdi:empty){display:none}.wordy td.n{display:inline-block;margin-right:1rem}.wordy "
    ".sub{display:inline;margin-left:.4em}.wordy "
    "tr[hidden]{display:none}}\n"
    "@media (min-width:1000px){\n"
    ".shell{display:grid;grid-template-columns:11.5rem minmax(0,1fr);column-gap:2.25rem}\n"
    "header,footer{grid-column:2}\n"
    "nav{grid-column:1;grid-row:1/span 4;position:sticky;top:0;align-self:start;max-height:100vh;overflow-y:auto;"
    "margin:0;padding:2.9rem 0 2rem}\n"
    "nav>ul{display:block}nav>ul>li{margin:0 0 .9rem}nav ul ul{display:block;list-style:none;margin:.1rem 0 "
    "0;padding:0;"
    "font-size:.88rem}\n"
    "main{grid-column:2}\n"
    ".figures{grid-template-columns:repeat(2,minmax(0,1fr))}.wide{grid-column:1/-1}\n"
    ".c5 div{flex-basis:17%}.c6 div{flex-basis:14%}.c7 div{flex-basis:12%}\n"
    ".solo{grid-column:1/-1;display:grid;grid-template-columns:minmax(0,21rem) minmax(0,1fr);column-gap:2rem}"
    ".solo>details,.solo>.csv,.solo>.alike,.solo>.filter,.solo>.scroll,.solo>.more{grid-column:1/-1}"
    ".solo>.more{justify-self:start}.solo>.chart{max-width:30rem}.solo>.chart svg{width:100%}\n"
    "}\n"
    "@media print{:root{" LIGHT "--shade:none;--page:#fff}\n"
    "body{font-size:10.5pt}nav,.skip,.tip,.filter,details:not(.said),.csv{display:none}.said "
    "bdi:first-child{color:inherit}.shell{display:block;max-width:none;padding:0}\n"
    "figure,.tiles div,.says{break-inside:avoid;box-shadow:none}h2{break-after:avoid;margin-top:1.5rem}\n"
    ".figures{grid-template-columns:repeat(2,minmax(0,1fr));gap:.6rem}.wide,.solo{grid-column:1/-1}"
    ".solo>.chart{max-width:14cm}.more{display:none}\n"
    ".cut:not(.found) tbody tr:nth-child(n+11){display:table-row}tbody tr:nth-child(n+26),.cut:not(.found) tbody "
    "tr:nth-child(n+26){display:none}.wide>.chart>svg{flex-basis:280px}"
    "table{font-size:8.5pt}th,td{padding:.2rem .4rem}.long{min-width:0}.one{flex:0 1 "
    "150px}.scroll,.scroll.whole{max-height:none;overflow:visible;background:none}thead th{position:static}th "
    "button::after{content:none}}\n";
