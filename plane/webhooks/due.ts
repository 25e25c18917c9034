import { type Leader, SOLE_LEADER } from '../../core/base/leader.ts';
import type { Commit } from '../../core/base/ports.ts';
import { isOfKind } from '../../core/base/written-record.ts';
import type { DeliveryRecord } from '../../core/webhooks/webhook-record.ts';

export interface DueDelivery {
  readonly workspace: string;
  readonly name: string;
  readonly webhook: string;
  readonly nextAt: number;
}

/** At most so many are under way at once; who is slow holds up nobody but itself. */
export const FLIGHT_LIMITS = { total: 32, workspace: 8, webhook: 4, withFirst: 64 } as const;

/** The deliveries that wait, in memory: what the store has of them, kept up by its commits. */
export class DueDeliveries {
  readonly #waiting = new Map<string, DueDelivery>();
  readonly #flying = new Map<string, DueDelivery>();

  note({ workspace, name, spec, status }: Pick<DeliveryRecord, 'workspace' | 'name' | 'spec' | 'status'>): void {
    const key = `${workspace}/${name}`;
    if (status.state !== 'waiting' || status.nextAt === undefined) this.#waiting.delete(key);
    else this.#waiting.set(key, { workspace, name, webhook: spec.webhook, nextAt: status.nextAt });
  }

  handle({ changes }: Commit): void {
    for (const change of changes) {
      if (!isOfKind(change, 'WebhookDelivery')) continue;
      if (change.type === 'deleted') this.#waiting.delete(`${change.record.workspace}/${change.record.name}`);
      else this.note(change.record);
    }
  }

  /**
   * Returns the deliveries to begin now, as many as there is room for; each is in flight until it has {@link landed}. The
   * workspace with the fewest in flight goes first, and one with none finds room for one where all is taken: slow receivers of
   * one workspace hold up no other.
   *
   * @param leads whose deliveries are sent by this control plane
   */
  take(now: number, leads: Leader['leads'] = SOLE_LEADER.leads): DueDelivery[] {
    const due = [...this.#waiting].filter(
      ([key, { nextAt, workspace }]) => nextAt <= now && !this.#flying.has(key) && leads(workspace),
    );
    // Deliveries of one instant are ordered by name: the oldest has the last one.
    due.sort(([, a], [, b]) => a.nextAt - b.nextAt || (a.name < b.name ? 1 : -1));
    const held = this.#held();
    const taken: DueDelivery[] = [];
    const ofWorkspaces = Map.groupBy(due, ([, { workspace }]) => workspace);
    for (let inFlight = 0; inFlight < FLIGHT_LIMITS.workspace; inFlight += 1) {
      for (const [workspace, waiting] of ofWorkspaces) {
        const byWorkspace = `w ${workspace}`;
        if ((held.get(byWorkspace) ?? 0) !== inFlight) continue;
        const most = inFlight === 0 ? FLIGHT_LIMITS.withFirst : FLIGHT_LIMITS.total;
        if (this.#flying.size >= most) continue;
        const index = waiting.findIndex(([, { webhook }]) => (held.get(`h ${webhook}`) ?? 0) < FLIGHT_LIMITS.webhook);
        const [found] = index < 0 ? [] : waiting.splice(index, 1);
        if (!found) continue;
        const [key, one] = found;
        const byWebhook = `h ${one.webhook}`;
        held.set(byWorkspace, inFlight + 1).set(byWebhook, (held.get(byWebhook) ?? 0) + 1);
        this.#flying.set(key, one);
        taken.push(one);
      }
    }
    return taken;
  }

  landed({ workspace, name }: DueDelivery): void {
    this.#flying.delete(`${workspace}/${name}`);
  }

  /** When the next one is due that is not under way. */
  nextAt(leads: Leader['leads'] = SOLE_LEADER.leads): number | undefined {
    let next: number | undefined;
    for (const [key, { nextAt, workspace }] of this.#waiting) {
      if (!this.#flying.has(key) && leads(workspace) && (next === undefined || nextAt < next)) next = nextAt;
    }
    return next;
  }

  #held(): Map<string, number> {
    const held = new Map<string, number>();
    for (const { workspace, webhook } of this.#flying.values()) {
      for (const key of [`w ${workspace}`, `h ${webhook}`]) held.set(key, (held.get(key) ?? 0) + 1);
    }
    return held;
  }
}
