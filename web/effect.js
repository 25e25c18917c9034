import { element } from './page.js';

/** What a workflow opens and closes, as tables. */
export function effectOf(effect) {
  return [
    ...sideOf('Opens', effect.opened, effect.opened_pairs, effect.opened_outside),
    ...sideOf('Closes', effect.closed, effect.closed_pairs, effect.closed_outside),
    element('p', { className: 'hint' }, `${effect.unchanged_count} pairs stay as they are.${omitted(effect)}`),
  ];
}

const omitted = ({ omitted: count }) => (count > 0 ? ` ${count} rows are left out.` : '');

function sideOf(verb, rows, pairs, outside = 0) {
  const more = outside === 0 ? '' : `, and ${outside} with addresses outside of the network`;
  const heading = element('h3', {}, `${verb} (${pairs} ${pairs === 1 ? 'pair' : 'pairs'}${more})`);
  if (rows.length === 0) return [heading, element('p', { className: 'hint' }, 'Nothing.')];
  const header = ['From', 'To', 'Traffic'].map((name) => element('th', { scope: 'col' }, name));
  const lines = grouped(rows).map((cells) => element('tr', {}, ...cells.map((text) => element('td', {}, text))));
  const table = element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...header)),
    element('tbody', {}, ...lines),
  );
  return [heading, element('div', { className: 'scroll' }, table)];
}

/** Rows of one pair are one line, and sources with the same targets and traffic are named together, as targets are. */
function grouped(rows) {
  const pairs = gathered(rows, ({ src, dst }) => [src, dst], trafficOf);
  const targets = gathered(
    pairs,
    ({ key: [src], values }) => [src, trafficIn(values)],
    ({ key: [, dst] }) => dst,
  );
  const sources = gathered(
    targets,
    ({ key: [, traffic], values }) => [values.join(', '), traffic],
    ({ key }) => key[0],
  );
  return sources.map(({ key: [dst, traffic], values }) => [values.join(', '), dst, traffic]);
}

function gathered(items, keyOf, pick) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const text = JSON.stringify(key);
    const group = groups.get(text) ?? { key, values: [] };
    groups.set(text, group);
    group.values.push(pick(item));
  }
  return [...groups.values()];
}

const EVERYTHING = ['ICMP', 'SCTP', 'TCP', 'UDP'];

function trafficIn(values) {
  const all = EVERYTHING.every((protocol) => values.includes(protocol));
  return all ? 'anything' : values.join(', ');
}

function trafficOf({ protocol, from, to }) {
  if (from === null) return protocol === 'any' ? 'anything' : protocol;
  return `${protocol} ${from === to || to === null ? from : `${from}-${to}`}`;
}
