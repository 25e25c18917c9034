import { Router } from './router.ts';
import type { Subscription } from './session.ts';
import { subscriptionBytes } from './subscriptions.ts';

/** The subscriptions of all sessions, as far as their sources may have them. */
export class SubscriptionTable {
  readonly router = new Router<Subscription>();

  /** @returns false when there is no room for it, in all or in what its source may have */
  add(subscription: Subscription): boolean {
    const { budget } = subscription.session;
    const bytes = subscriptionBytes(subscription);
    if (!budget.take('subscriptionBytes', bytes)) return false;
    if (!budget.take('subscriptions', 1)) {
      budget.give('subscriptionBytes', bytes);
      return false;
    }
    this.router.add(subscription);
    return true;
  }

  remove(subscription: Subscription): void {
    const { budget } = subscription.session;
    budget.give('subscriptionBytes', subscriptionBytes(subscription));
    budget.give('subscriptions', 1);
    this.router.remove(subscription);
  }
}
