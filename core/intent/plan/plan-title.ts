import type { Order } from '../orders/order.ts';

/** Orders that a title names; the others are counted. */
const MAX_ORDERS = 2;
const MAX_ORDER_LENGTH = 160;

/** Returns the orders of a plan in one line; undefined for none. */
export function ordersTitle(orders: readonly Order[] = []): string | undefined {
  if (orders.length === 0) return undefined;
  const texts = orders.slice(0, MAX_ORDERS).map(({ text }) => cut(text));
  const more = orders.length - texts.length;
  const title = [...texts, ...(more > 0 ? [`and ${more} more orders`] : [])].join('; ');
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** Returns the summary of a plan: its orders, and in the same line all that they do. */
export function planSummary(orders: string | undefined, effect: string): string {
  return orders === undefined ? effect : `${orders}: ${effect.charAt(0).toLowerCase()}${effect.slice(1)}`;
}

function cut(text: string): string {
  return text.length > MAX_ORDER_LENGTH ? `${text.slice(0, MAX_ORDER_LENGTH)}…` : text;
}
