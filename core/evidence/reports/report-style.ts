/** The style of report.html: light and dark on a screen, black on white on paper. */
export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1c2430, #e4e8ee);
  --quiet: light-dark(#5a6473, #a3adba);
  --page: light-dark(#ffffff, #12161c);
  --line: light-dark(#d3d9e1, #36404d);
  --bad: light-dark(#a61b1b, #ff9b94);
  --good: light-dark(#1a6b34, #7fd79b);
  --open: light-dark(#7a4b00, #f0be66);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem; max-width: 60rem;
  background: var(--page); color: var(--text);
  font: 0.9375rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { margin: 0 0 0.25rem; font-size: 1.5rem; line-height: 1.2; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1.125rem; break-after: avoid; }
p, li, td, th, dd { unicode-bidi: isolate; }
p, ul { margin: 0.5rem 0; }
ul { padding-left: 1.25rem; }
code { font-family: ui-monospace, monospace; font-size: 0.875em; }
.quiet { color: var(--quiet); }
.notice { border-left: 0.25rem solid var(--line); padding-left: 0.75rem; }
.totals { display: grid; grid-template-columns: repeat(5, 1fr); gap: 0.5rem; margin: 1rem 0; padding: 0; }
.totals div { border: 1px solid var(--line); border-radius: 0.375rem; padding: 0.5rem 0.75rem; }
.totals dt { color: var(--quiet); font-size: 0.8125rem; }
.totals dd { margin: 0; font-size: 1.375rem; font-weight: 600; line-height: 1.3; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.125rem 1rem; margin: 0.75rem 0; }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.25rem 0.5rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; }
th, td:not(:nth-child(2)) { white-space: nowrap; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
.fail { color: var(--bad); font-weight: 600; }
.pass { color: var(--good); }
.open { color: var(--open); }
.times { width: 100%; height: auto; font: 11px system-ui, sans-serif; }
.times text { fill: var(--text); }
.times .quiet { fill: var(--quiet); }
.times .known { fill: none; stroke: var(--line); }
.times .failed { fill: var(--bad); }
.times .axis { stroke: var(--line); }
.todo li { margin: 0.375rem 0; break-inside: avoid; }
@page { margin: 12mm; }
@media (max-width: 40rem) {
  .totals { grid-template-columns: repeat(2, 1fr); }
  .facts { grid-template-columns: 1fr; }
  th, td:not(:nth-child(2)) { white-space: normal; }
  td:nth-child(4), th:nth-child(4), td:nth-child(5), th:nth-child(5) { display: none; }
}
@media print {
  :root {
    color-scheme: light;
    --text: #000; --quiet: #444; --page: #fff; --line: #999;
    --bad: #8a0f0f; --good: #14532b; --open: #5c3a00;
  }
  body { margin: 0; padding: 0; max-width: none; font-size: 9pt; line-height: 1.35; }
  h1 { font-size: 15pt; }
  h2 { margin-top: 0.75rem; font-size: 11pt; }
  table { font-size: 8pt; }
  th, td { padding: 0.125rem 0.375rem; }
  .todo li { margin: 0.125rem 0; }
  .totals { margin: 0.5rem 0; }
  .totals dt { font-size: 7.5pt; }
  .totals dd { font-size: 13pt; }
  .facts { grid-template-columns: repeat(2, max-content 1fr); font-size: 8pt; }
  .times .failed { print-color-adjust: exact; }
}
`;
