import type { Order } from '../api/types.ts';
import { Chip } from '../design/chip.tsx';
import { Sentence } from '../ui/sentence.tsx';
import './orders.css';

export const VERBS = {
  allow: 'Allow',
  deny: 'Deny',
  only: 'Only',
  remove: 'Remove',
} as const satisfies Record<Order['do'], string>;

/** Shape beside the word and the color of a verb. */
const MARKS: Record<Order['do'], string> = { allow: '▶', deny: '✕', only: '◆', remove: '−' };

/** Orders below each other: the verb, who reaches whom, the ports, the begin and the end. */
export function OrderList({ orders, label }: { orders: readonly Order[]; label: string }) {
  return (
    <ul class="orders" aria-label={label}>
      {orders.map((order) => (
        <OrderItem key={JSON.stringify(order)} order={order} />
      ))}
    </ul>
  );
}

function OrderItem({ order }: { order: Order }) {
  const { do: verb, from, to, except_from, except_to, side, ports = [], both_ways: isBothWays, through = [] } = order;
  const times = timesText(order);
  return (
    <li class={verb}>
      <strong class="verb">
        <span aria-hidden="true">{MARKS[verb]}</span> {VERBS[verb]}
      </strong>
      <Who words={from} except={except_from} />
      <span>
        <span aria-hidden="true">{isBothWays ? '⇄' : '→'}</span>
        <span class="visually-hidden">{isBothWays ? 'to and from' : 'to'}</span>
      </span>
      <Who words={to} except={except_to} />
      <code>{ports.length === 0 ? 'all ports' : ports.join(', ')}</code>
      {verb === 'only' && <span class="dim">{side === 'from' ? 'and nowhere else' : 'and nobody else'}</span>}
      {through.length > 0 && <strong class="fault">▲ through {through.join(', ')}</strong>}
      {times !== '' && (
        <span class="dim">
          <Sentence text={times} />
        </span>
      )}
    </li>
  );
}

function timesText({ starts, for: duration, until }: Order): string {
  const end = duration !== undefined ? `for ${duration}` : until === undefined ? '' : `until ${until}`;
  return [starts === undefined ? '' : `begins ${starts}`, end].filter((text) => text !== '').join(', ');
}

function Who({ words, except = [] }: { words: readonly string[]; except?: readonly string[] | undefined }) {
  return (
    <span class="row who">
      {words.map((word) => (
        <Chip key={word}>{word}</Chip>
      ))}
      {except.length > 0 && <span class="dim">except</span>}
      {except.map((word) => (
        <Chip key={word}>{word}</Chip>
      ))}
    </span>
  );
}
