/** The groups that a member counts in (net/source-networks.ts), from narrow to wide. */
export interface Group {
  readonly host: string | number;
  readonly site: string | number;
}

export interface SlotLimits {
  readonly total: number;
  readonly perHost: number;
  readonly perSite: number;
}

/**
 * Places for connections, in all and for each host and site. Nobody is turned away: whoever comes to a full place takes that
 * of the oldest of its own host or site, or, when all are taken, of the oldest of the site that has most. So a flood pushes
 * out itself, and someone else keeps the place for as long as an honest handshake takes.
 */
export class ConnectionSlots<Member> {
  readonly #limits: SlotLimits;
  readonly #held = new Map<Member, Group>();
  readonly #hosts = new Map<string | number, Set<Member>>();
  readonly #sites = new Map<string | number, Set<Member>>();
  /** Sites by how many members they have. */
  readonly #bySize: Set<Set<Member>>[] = [];

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#held.size;
  }

  /** @returns who has to go for it; it has no place any more */
  add(member: Member, group: Group): Member | undefined {
    const { total, perHost, perSite } = this.#limits;
    this.#held.set(member, group);
    const host = membersOf(this.#hosts, group.host).add(member);
    const site = membersOf(this.#sites, group.site);
    this.#resize(site, () => site.add(member));
    const crowded = host.size > perHost ? host : site.size > perSite ? site : undefined;
    const [oldest] = crowded ?? (this.size > total ? this.#largestSite() : []);
    if (oldest !== undefined) this.remove(oldest);
    return oldest;
  }

  /** Idempotent. */
  remove(member: Member): void {
    const group = this.#held.get(member);
    const host = group && this.#hosts.get(group.host);
    const site = group && this.#sites.get(group.site);
    if (!group || !host || !site) return;
    this.#held.delete(member);
    host.delete(member);
    if (host.size === 0) this.#hosts.delete(group.host);
    this.#resize(site, () => site.delete(member));
    if (site.size === 0) this.#sites.delete(group.site);
  }

  #largestSite(): Iterable<Member> {
    const [site] = this.#bySize.at(-1) ?? [];
    return site ?? [];
  }

  #resize(site: Set<Member>, change: () => void): void {
    this.#bySize[site.size]?.delete(site);
    change();
    while (this.#bySize.length <= site.size) this.#bySize.push(new Set());
    if (site.size > 0) this.#bySize[site.size]?.add(site);
    while (this.#bySize.at(-1)?.size === 0) this.#bySize.pop();
  }
}

function membersOf<Member>(groups: Map<string | number, Set<Member>>, name: string | number): Set<Member> {
  const known = groups.get(name) ?? new Set<Member>();
  groups.set(name, known);
  return known;
}
