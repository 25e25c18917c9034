import { isAgentId } from '../base/ids.ts';

/** Whose call it is: places are shared first between tenants (workspaces), then between the callers of each. */
export interface QueueOwner {
  readonly tenant: string;
  readonly principal: string;
}

export interface QueueLimits {
  /** Calls that may wait, of everyone, of one tenant and of one caller. */
  readonly total: number;
  readonly perTenant: number;
  readonly perPrincipal: number;
  /** Maximum waiting calls of all agents of one tenant; the rest is reserved for its people. */
  readonly perTenantAgents: number;
}

/** Whose limit is reached. */
export type ReachedLimit = 'everyone' | 'tenant' | 'principal';

interface Entry<T> extends QueueOwner {
  readonly item: T;
}

/**
 * A bounded queue of items that wait for a slot. Tenants take turns, and within a tenant its callers: of A1 A2 A3 (caller a of
 * tenant A), B1 (caller b of A) and C1 (tenant C), pushed in this order, the order out is A1 C1 B1 A2 A3.
 */
export class FairQueue<T> {
  readonly #limits: QueueLimits;
  /** By tenant, then by caller, of whom the first has the next turn. None is empty. */
  readonly #tenants = new Map<string, Map<string, Entry<T>[]>>();
  /** When tenants had their last turn, the latest ones: who had none for long goes first. */
  readonly #turns = new Map<string, number>();
  #lastTurn = 0;
  #size = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** @returns whose limit is reached where there is no room; undefined once the item waits. */
  push({ tenant, principal }: QueueOwner, item: T): ReachedLimit | undefined {
    const callers = this.#tenants.get(tenant) ?? new Map<string, Entry<T>[]>();
    const own = callers.get(principal) ?? [];
    if (this.#size >= this.#limits.total) return 'everyone';
    if (sizeOf(callers) >= this.#limits.perTenant) return 'tenant';
    if (isAgentId(principal) && agentsIn(callers) >= this.#limits.perTenantAgents) return 'tenant';
    if (own.length >= this.#limits.perPrincipal) return 'principal';
    own.push({ tenant, principal, item });
    callers.set(principal, own);
    this.#tenants.set(tenant, callers);
    this.#size += 1;
    return undefined;
  }

  /** The next in turn among the tenants that may have one more. */
  shift(mayRun: (tenant: string) => boolean = () => true): (QueueOwner & { readonly item: T }) | undefined {
    const turnOf = (tenant: string) => this.#turns.get(tenant) ?? 0;
    let next: string | undefined;
    for (const tenant of this.#tenants.keys()) {
      if (mayRun(tenant) && (next === undefined || turnOf(tenant) < turnOf(next))) next = tenant;
    }
    const callers = next === undefined ? undefined : this.#tenants.get(next);
    const [own] = callers?.values() ?? [];
    const entry = own?.shift();
    if (!callers || !own || !entry) return undefined;
    const { tenant, principal } = entry;
    this.#size -= 1;
    // The caller that had its turn moves behind the others.
    callers.delete(principal);
    if (own.length > 0) callers.set(principal, own);
    if (callers.size === 0) this.#tenants.delete(tenant);
    this.#noteTurn(tenant);
    return entry;
  }

  #noteTurn(tenant: string): void {
    this.#lastTurn += 1;
    this.#turns.delete(tenant);
    this.#turns.set(tenant, this.#lastTurn);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > this.#limits.total && oldest !== undefined) this.#turns.delete(oldest);
  }

  /** @returns whether it was still waiting. */
  remove({ tenant, principal }: QueueOwner, item: T): boolean {
    const callers = this.#tenants.get(tenant);
    const own = callers?.get(principal);
    const index = own?.findIndex((entry) => entry.item === item) ?? -1;
    if (!callers || !own || index < 0) return false;
    own.splice(index, 1);
    this.#size -= 1;
    if (own.length === 0) callers.delete(principal);
    if (callers.size === 0) this.#tenants.delete(tenant);
    return true;
  }
}

function agentsIn<T>(callers: ReadonlyMap<string, readonly Entry<T>[]>): number {
  let size = 0;
  for (const [principal, own] of callers) if (isAgentId(principal)) size += own.length;
  return size;
}

function sizeOf<T>(callers: ReadonlyMap<string, readonly Entry<T>[]>): number {
  let size = 0;
  for (const own of callers.values()) size += own.length;
  return size;
}
