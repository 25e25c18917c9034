import type { Order } from '../api/types.ts';
import { Chip } from '../design/chip.tsx';
import { instantOf } from '../time/moment.ts';
import { ZonedTime } from '../ui/zoned-time.tsx';
import './orders.css';

export const VERBS = {
  allow: 'Allow',
  deny: 'Deny',
  only: 'Only',
  remove: 'Remove',
} as const satisfies Record<Order['do'], string>;

/** Shape beside the word and the color of a verb. */
const MARKS: Record<Order['do'], string> = { allow: '▶', deny: '✕', only: '◆', remove: '−' };

interface OrderListProps {
  readonly orders: readonly Order[];
  readonly label: string;
  /** By whose clocks times are shown; unless it is known, those of the viewer. */
  readonly timeZone?: string | undefined;
}

/** Orders below each other: the verb, who reaches whom, the ports, the begin and the end. */
export function OrderList({ orders, label, timeZone }: OrderListProps) {
  return (
    <ul class="orders" aria-label={label}>
      {orders.map((order) => (
        <OrderItem key={JSON.stringify(order)} order={order} timeZone={timeZone} />
      ))}
    </ul>
  );
}

function OrderItem({ order, timeZone }: Pick<OrderListProps, 'timeZone'> & { order: Order }) {
  const { do: verb, from, to, except_from, except_to, side, ports = [], both_ways: isBothWays, through = [] } = order;
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
      <OrderTime word="begins" text={order.starts} timeZone={timeZone} />
      <OrderTime word="for" text={order.for} timeZone={timeZone} />
      <OrderTime word="until" text={order.until} timeZone={timeZone} />
    </li>
  );
}

interface OrderTimeProps extends Pick<OrderListProps, 'timeZone'> {
  readonly word: string;
  readonly text: string | undefined;
}

function OrderTime({ word, text, timeZone }: OrderTimeProps) {
  if (text === undefined) return null;
  const at = text.endsWith('Z') ? instantOf(text) : undefined;
  return (
    <span class="dim">
      {word} {at === undefined ? text : <ZonedTime at={at} timeZone={timeZone} />}
    </span>
  );
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
