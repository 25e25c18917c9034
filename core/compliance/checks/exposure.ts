import type { NetworkChange } from '../../changes/changes.ts';
import type { Selector } from '../../model/policy.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { selects } from '../../model/selector.ts';
import { counted, holdsUnless, named } from '../check-result.ts';
import { anyoneFaults, openToAnyone, openToUnlisted, rulesText } from '../open-to-anyone.ts';
import { freeName } from '../remedy-names.ts';
import { type AllowRule, isIsolated, peersInScope, rulesAtScope, type View } from '../view.ts';
import type { StateCheck } from './check.ts';
import { noneInScope } from './isolation.ts';
import { namesUnlisted, narrowPolicies } from './narrow.ts';

/** Control of the contract: no ALLOW admits anyone to the peers in scope. */
export const notPublic: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    return holdsUnless(
      anyoneFaults(view, 'ingress'),
      `No ALLOW lets anyone in to ${counted(peers.length, `${view.subject} peer`)}.${openText(view, peers)}`,
    );
  },
  remedy: (view) => ({
    text: `A network operator names who may reach the ${view.subject} peers, in place of anyone.`,
    changes: narrowPolicies(view, [['ingress', openToAnyone.ingress(view).rules]]),
  }),
};

/** Returns a sentence about peers that are open by default. No ALLOW opens them, so other controls judge them. */
function openText(view: View, peers: readonly PeerRecord[]): string {
  const open = peers.filter((peer) => !isIsolated(view, peer, 'ingress'));
  if (open.length === 0) return '';
  return ` Open because nothing isolates them, which PCI-DSS-1.2, 1.3.1 and 1.4.2 judge: ${named(open)}.`;
}

/** Checks that only the outside addresses that the workspace lists reach peers in scope. */
export const noOtherSources: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    const open = openToUnlisted(view, 'ingress');
    const [bare, granted] = [
      open.filter((peer) => !isIsolated(view, peer, 'ingress')),
      open.filter((peer) => isIsolated(view, peer, 'ingress')),
    ];
    const rules = unlistedRules(view, granted);
    const blocks = view.sources.length === 0 ? 'none is listed' : `${counted(view.sources.length, 'block')} listed`;
    return holdsUnless(
      [
        ...(bare.length > 0 ? [`any address outside may reach ${named(bare)}, because nothing isolates them`] : []),
        ...(granted.length > 0
          ? [
              `${rulesText(rules)} ${rules.length === 1 ? 'lets' : 'let'} addresses in to ${named(granted)} that the workspace does not list`,
            ]
          : []),
      ],
      `No address outside may reach ${counted(peers.length, `${view.subject} peer`)} beyond the list (${blocks}).`,
    );
  },
  remedy(view) {
    const open = openToUnlisted(view, 'ingress');
    const bare = open.filter((peer) => !isIsolated(view, peer, 'ingress'));
    return {
      text: 'A network operator isolates these peers and takes the addresses away, or an administrator lists them in the setting compliance.sources with a reason on record.',
      changes: [...isolations(view, bare), ...narrowPolicies(view, [['ingress', unlistedRules(view, open)]])],
    };
  },
};

function unlistedRules(view: View, peers: readonly PeerRecord[]): AllowRule[] {
  if (peers.length === 0) return [];
  const meant = new Set(peers);
  return rulesAtScope
    .ingress(view)
    .filter(({ rule, subjects }) => namesUnlisted(view, rule.peers) && subjects.some((peer) => meant.has(peer)));
}

/** A policy for each label of the scope that some of the peers have, which lets nobody in by default. */
function isolations(view: View, peers: readonly PeerRecord[]): NetworkChange[] {
  return view.rule.selectors
    .filter((selector) => peers.some((peer) => selects(selector, peer)))
    .map((peerSelector: Selector, index) => {
      const name = freeName(view.state, `no-other-sources${index === 0 ? '' : `-by-label-${index + 1}`}`);
      return { action: 'create', resource: 'MeshPolicy', name, spec: { action: 'DENY', peerSelector, ingress: [] } };
    });
}
