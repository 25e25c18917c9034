import { getOrInsertComputed } from '../../base/get-or-insert.ts';
import { memoize } from '../../base/memoize.ts';
import type { Protocol } from '../../model/policy.ts';
import type { PeerRecord, PolicyRecord } from '../../model/resources.ts';
import { selects } from '../../model/selector.ts';
import { groupRows } from '../../reachability/matrix.ts';
import type { AllowedPorts } from '../../reachability/port-sets.ts';
import { counted, holdsUnless, listed, named, nothing } from '../check-result.ts';
import { outsideOf } from '../open-to-anyone.ts';
import { freeName } from '../remedy-names.ts';
import { type AllowRule, isIsolated, peersInScope, rulesAtScope, type View } from '../view.ts';
import type { StateCheck } from './check.ts';
import { noneInScope } from './isolation.ts';

/** Annotations of a policy that say who answers for what it allows, and why. */
const OWNER = 'compliance.owner';
const JUSTIFICATION = 'compliance.justification';
/** Annotation of a policy that says what makes an insecure service safe. */
const MITIGATION = 'compliance.mitigation';

/** Checks that each policy that opens ports of peers in scope names its owner and its justification. */
export const justifiedPorts: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    const policies = [...new Set(rulesAtScope.ingress(view).map(({ policy }) => policy))];
    const open = peers.filter((peer) => !isIsolated(view, peer, 'ingress'));
    if (policies.length === 0 && open.length === 0)
      return nothing(`No policy opens a port of ${counted(peers.length, `${view.subject} peer`)}.`);
    const bare = policies.filter((policy) => !says(policy, OWNER) || !says(policy, JUSTIFICATION));
    return holdsUnless(
      [
        ...(open.length > 0
          ? [`every port of ${named(open)} is open, because nothing isolates them: nobody justifies that`]
          : []),
        ...(bare.length > 0 ? [`${named(bare)} lacks the annotation ${OWNER} or ${JUSTIFICATION}`] : []),
      ],
      `Each of ${counted(policies.length, 'policy', 'policies')} that open ports of ${view.subject} peers has an owner and a justification.`,
    );
  },
  remedy: () => ({
    text: `The owner of each service sets the annotations ${OWNER} and ${JUSTIFICATION} on the policy that opens it (update_policy, or apply).`,
    changes: [],
  }),
};

function says({ annotations }: PolicyRecord, annotation: string): boolean {
  return Boolean(annotations[annotation]?.trim());
}

type Service = readonly [protocol: Protocol, port: number, name: string];

/** Services that carry passwords or data in the clear, or are attacked first. */
const INSECURE: readonly Service[] = [
  ['TCP', 21, 'FTP'],
  ['TCP', 23, 'Telnet'],
  ['UDP', 69, 'TFTP'],
  ['TCP', 110, 'POP3'],
  ['TCP', 111, 'portmapper'],
  ['UDP', 111, 'portmapper'],
  ['TCP', 139, 'NetBIOS'],
  ['TCP', 143, 'IMAP'],
  ['UDP', 161, 'SNMP'],
  ['TCP', 445, 'SMB'],
  ['TCP', 512, 'rexec'],
  ['TCP', 513, 'rlogin'],
  ['TCP', 514, 'rsh'],
  ['TCP', 3389, 'RDP'],
];

/** Checks that no insecure service of a peer in scope is reachable, unless its policy names what makes it safe. */
export const noInsecureServices: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    const open = peers.filter((peer) => insecureAt(view, peer).length > 0);
    const faults = open.map((peer) => `${named([peer])} may be reached on ${listed(insecureAt(view, peer))}`);
    return holdsUnless(
      faults,
      `None of ${INSECURE.length} insecure services of ${counted(peers.length, `${view.subject} peer`)} may be reached.`,
    );
  },
  remedy(view) {
    const ports = INSECURE.map(([protocol, port]) => ({ protocol, port }));
    const changes = view.rule.selectors
      .filter((selector) => peersInScope(view).some((peer) => selects(selector, peer)))
      .map((peerSelector, index) => ({
        action: 'create' as const,
        resource: 'MeshPolicy' as const,
        name: freeName(view.state, `no-insecure-services${index === 0 ? '' : `-by-label-${index + 1}`}`),
        spec: { action: 'DENY' as const, peerSelector, ingress: [{ ports }] },
      }));
    return {
      text: `A network operator closes the services, or says in the annotation ${MITIGATION} of the policy what makes them safe.`,
      changes,
    };
  },
};

/** The insecure services of a peer that some other peer or an address outside may open, without a note that says why that is safe. */
function insecureAt(view: View, peer: PeerRecord): string[] {
  const services = [...(servicesOpened(view).get(peer.name) ?? [])];
  if (services.length === 0) return [];
  const rules = isIsolated(view, peer, 'ingress')
    ? rulesAtScope.ingress(view).filter(({ subjects }) => subjects.includes(peer))
    : undefined;
  return services
    .filter(([protocol, port]) => !rules?.every((rule) => !names(rule, protocol, port) || isMitigated(rule)))
    .map(([protocol, port, name]) => `${protocol} ${port} (${name})`);
}

/** By the name of each peer in scope: walked by kinds of peers, so that it costs what policies tell apart. */
const servicesOpened = memoize((view: View): ReadonlyMap<string, ReadonlySet<Service>> => {
  const found = new Map<string, Set<Service>>();
  const names = new Set(peersInScope(view).map(({ name }) => name));
  for (const { src, dst, allowed } of groupRows(view.reach(), { dst: names })) {
    const open = INSECURE.filter(([protocol, port]) => includes(allowed, protocol, port));
    if (open.length === 0) continue;
    for (const name of dst) {
      if (src.length === 1 && src[0] === name) continue;
      const own = getOrInsertComputed(found, name, () => new Set());
      for (const service of open) own.add(service);
    }
  }
  for (const [name, ranges] of outsideOf.ingress(view)) {
    const open = INSECURE.filter(
      ([protocol, port]) => ranges?.some(({ allowed }) => includes(allowed, protocol, port)) ?? true,
    );
    if (open.length === 0) continue;
    const own = getOrInsertComputed(found, name, () => new Set());
    for (const service of open) own.add(service);
  }
  return found;
});

function isMitigated({ policy }: AllowRule): boolean {
  return says(policy, MITIGATION);
}

function names({ rule }: AllowRule, protocol: Protocol, port: number): boolean {
  return (
    rule.ports.length === 0 ||
    rule.ports.some((entry) => {
      if ((entry.protocol ?? 'TCP') !== protocol) return false;
      return entry.port === undefined || (entry.port <= port && port <= (entry.endPort ?? entry.port));
    })
  );
}

function includes(allowed: AllowedPorts, protocol: Protocol, port: number): boolean {
  if (allowed === 'ALL') return true;
  return allowed.some((span) => {
    if (span.protocol !== protocol) return false;
    return span.from === undefined || (span.from <= port && port <= (span.to ?? span.from));
  });
}
