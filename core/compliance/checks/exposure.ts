import type { NetworkChange } from '../../changes/changes.ts';
import { parseCidr } from '../../model/cidr.ts';
import { meansAnyone } from '../../model/meaning.ts';
import type { IngressRule, PeerEntry } from '../../model/policy.ts';
import { isSubset, union } from '../../model/ranges.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { outsideReach } from '../../reachability/outside-reach.ts';
import { isFromAnyone, rangesOf, rangesOfEntry } from '../anyone.ts';
import { counted, holdsUnless, named } from '../reading.ts';
import { type AllowRule, peersInScope, rulesToScope, subjectsOf, type View } from '../view.ts';
import type { Remedy, StateCheck } from './check.ts';
import { noneInScope } from './isolation.ts';

/** That no ALLOW lets anyone in to the peers in scope. */
export const notPublic: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    const found = publicRules(view, peers);
    const faults = found.map(
      (one) => `rule ${one.index} of ${named([one.policy])} lets anyone in to ${named(subjectsOf(one, peers))}`,
    );
    return holdsUnless(faults, `No ALLOW lets anyone in to ${counted(peers.length, `${view.subject} peer`)}.`);
  },
  remedy: (view) =>
    withoutEntries(
      view,
      publicRules(view, peersInScope(view)),
      (rule) => isFromAnyone({ peers: rule.from ?? [] }),
      `A network operator names who may reach the ${view.subject} peers, in place of anyone.`,
    ),
};

/** Rules of which something comes through: what a DENY closes altogether is public to nobody. */
function publicRules(view: View, peers: readonly PeerRecord[]): AllowRule[] {
  return rulesToScope(view).filter(
    (one) => isFromAnyone(one.rule) && subjectsOf(one, peers).some((peer) => isReached(view, peer)),
  );
}

function isReached(view: View, { name }: PeerRecord): boolean {
  const reach = view.reach();
  if (outsideReach(reach, name, 'src')?.length !== 0) return true;
  return reach.neighbourhood(name).inbound.length > 0;
}

/** That no address outside reaches peers in scope but those which the workspace lists. */
export const noOtherSources: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    const faults = unlistedRules(view).map(
      ({ policy, index }) => `rule ${index} of ${named([policy])} lets addresses in that the workspace does not list`,
    );
    const listing = view.sources.length === 0 ? 'none is listed' : `${counted(view.sources.length, 'block')} listed`;
    return holdsUnless(
      faults,
      `No address outside may reach ${counted(peers.length, `${view.subject} peer`)} by an ALLOW beyond the list (${listing}).`,
    );
  },
  remedy: (view) =>
    withoutEntries(
      view,
      unlistedRules(view),
      ({ from }) => isUnlisted(view, from ?? []),
      'A network operator takes the addresses away, or an administrator lists them in the setting compliance.sources with a reason on record.',
    ),
};

function unlistedRules(view: View): AllowRule[] {
  return rulesToScope(view).filter(({ rule }) => isUnlisted(view, rule.peers));
}

function isUnlisted({ sources }: View, entries: readonly PeerEntry[]): boolean {
  if (meansAnyone(entries)) return true;
  const listed = union(sources.flatMap((text) => parseCidr(text) ?? []));
  return !isSubset(rangesOf(entries), listed);
}

/** The policies without those entries, or without the rules that have no others. */
function withoutEntries(
  view: View,
  rules: readonly AllowRule[],
  isMeant: (rule: IngressRule) => boolean,
  text: string,
): Remedy {
  const policies = new Map(rules.map(({ policy, spec }) => [policy.name, { policy, spec }]));
  const changes = [...policies.values()].map(({ policy, spec }): NetworkChange => {
    const ingress = (spec.ingress ?? []).flatMap((rule) => (isMeant(rule) ? narrowed(view, rule) : [rule]));
    return { action: 'update', resource: 'MeshPolicy', name: policy.name, spec: { ...spec, ingress } };
  });
  return { text, changes };
}

/** The rule with the peers that it names and the addresses that are listed; none where it names none. */
function narrowed(view: View, rule: IngressRule): IngressRule[] {
  const from = (rule.from ?? []).filter((entry) => {
    if (entry === '*' || isFromAnyone({ peers: [entry] })) return false;
    return entry.peerSelector !== undefined || !isUnlisted(view, [entry]) || rangesOfEntry(entry).length === 0;
  });
  return from.length === 0 ? [] : [{ ...rule, from }];
}
