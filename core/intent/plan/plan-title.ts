import type { Order } from '../orders/order.ts';

/** Orders that a title names; the others are counted. */
const MAX_ORDERS = 2;
/** Characters of an order, without its times. */
const MAX_ORDER_LENGTH = 160;

/** Returns the orders of a plan in one line; undefined for none. */
export function ordersTitle(orders: readonly Order[] = []): string | undefined {
  if (orders.length === 0) return undefined;
  const texts = orders.slice(0, MAX_ORDERS).map(cut);
  const more = orders.length - texts.length;
  const title = [...texts, ...(more > 0 ? [`and ${more} more orders`] : [])].join('; ');
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** Returns the summary of a plan: its orders, and in the same line all that they do. */
export function planSummary(orders: string | undefined, effect: string): string {
  return orders === undefined ? effect : `${orders}: ${effect.charAt(0).toLowerCase()}${effect.slice(1)}`;
}

/** Shortens the names and ports of an order, never when it begins and ends. */
function cut({ text, startsAt, expiresAt }: Order): string {
  const word = startsAt === undefined ? ' until ' : ' beginning ';
  const end = startsAt === undefined && expiresAt === undefined ? text.length : text.lastIndexOf(word);
  return end > MAX_ORDER_LENGTH ? `${text.slice(0, MAX_ORDER_LENGTH)}…${text.slice(end)}` : text;
}
