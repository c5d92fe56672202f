/**
 * The stylesheet of reports, for the HTML file and the console alike. Light and dark follow the reader's setting. Each
 * colour of a plot has a contrast of 3:1 to the ground in both, and none is the only sign of what it stands for.
 */
export const STYLESHEET = `
:root {
  color-scheme: light dark;
  --ground: #ffffff;
  --text: #1c2024;
  --quiet-text: #565d66;
  --line: #d5d9de;
  --panel: #f5f6f8;
  --link: #0b5cad;
  --good-text: #0b6b3a;
  --bad-text: #a3123a;
  --plot-ground: var(--ground);
  --plot-good: #1f6fb5;
  --plot-quiet: #7d8590;
  --plot-open: #b35900;
  --plot-bad: #b3124a;
  --plot-worse: #5b2a86;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a;
    --text: #e6e8ea;
    --quiet-text: #a7aeb6;
    --line: #3a4048;
    --panel: #1d2125;
    --link: #7ab8f5;
    --good-text: #6fd39b;
    --bad-text: #ff8fab;
    --plot-good: #58a6e8;
    --plot-quiet: #8f98a3;
    --plot-open: #f0a030;
    --plot-bad: #ff6f9c;
    --plot-worse: #c39bf0;
  }
}
.report { max-width: 60rem; margin: 0 auto; padding: 1rem; color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
.report-page { margin: 0; background: var(--ground); }
.report h1 { font-size: 1.5rem; margin: 0.5rem 0; overflow-wrap: anywhere; }
.report h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
.report p { margin: 0.5rem 0; }
.report a { color: var(--link); }
.report .quiet { color: var(--quiet-text); }
.report .outcome { font-weight: 600; }
.report .outcome-good { color: var(--good-text); }
.report .outcome-bad { color: var(--bad-text); }
.report dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; margin: 0.5rem 0; }
.report dt { color: var(--quiet-text); }
.report dd { margin: 0; overflow-wrap: anywhere; }
.report figure { margin: 1rem 0; }
.report figcaption { font-weight: 600; }
.report .scroll { overflow-x: auto; }
.report table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
.report caption { text-align: left; color: var(--quiet-text); }
.report th, .report td { padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
.report th { font-weight: 600; }
.report .number { text-align: right; white-space: nowrap; }
.report summary { cursor: pointer; color: var(--link); }
.report code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; margin: 0.3rem 0; padding: 0; list-style: none; font-size: 0.9rem; }
.swatch { display: inline-block; width: 0.9rem; height: 0.9rem; vertical-align: -0.1rem; margin-right: 0.35rem; }
.swatch rect { width: 100%; height: 100%; }
.plot { display: block; max-width: 100%; height: auto; color: var(--text); background: var(--plot-ground); }
.plot text { white-space: pre; }
.sparkline { display: inline-block; vertical-align: middle; }
@media (max-width: 40rem) {
  .report dl { grid-template-columns: 1fr; }
  .report dd { margin-bottom: 0.3rem; }
}
@media print {
  .report { max-width: none; padding: 0; }
  .report figure, .report tr { break-inside: avoid; }
}
`.trimStart();
