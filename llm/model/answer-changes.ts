import type { NetworkChange } from '../../core/changes/changes.ts';
import { changeInputSchema, parseChange } from '../../core/intent/plan/change-input.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { AnswerPolicy, AnswerRule, AnswerSelector, ModelAnswer } from './answer-form.ts';

export interface AnswerChanges {
  readonly changes: readonly NetworkChange[];
  /** What is wrong with the answer, where something is; then there are no changes. */
  readonly issues: readonly string[];
}

/** What an answer comes to as typed changes of the network. Labels of one peer become one change. */
export function changesOf({ changes }: ModelAnswer, state: NetworkState): AnswerChanges {
  const issues: string[] = [];
  const peers = new Map<string, PeerEdit>();
  const editOf = (name: string): PeerEdit => {
    const edit = peers.get(name) ?? { labels: { ...state.peers.get(name)?.labels } };
    peers.set(name, edit);
    return edit;
  };
  const inputs: unknown[] = [];
  for (const [index, change] of changes.entries()) {
    const wrong = (text: string) => issues.push(`changes/${index}: ${text}`);
    const selectorOf = (selector: AnswerSelector) => toSelector(selector, wrong);
    switch (change.do) {
      case 'create_policy':
      case 'replace_policy': {
        const [action, name] =
          change.do === 'create_policy' ? (['create', change.name] as const) : (['update', change.policy] as const);
        inputs.push({ action, resource: 'MeshPolicy', name, spec: specOf(change.spec, selectorOf, wrong) });
        break;
      }
      case 'delete_policy':
        inputs.push({ action: 'delete', resource: 'MeshPolicy', name: change.policy });
        break;
      case 'label_peer': {
        const { labels } = editOf(change.peer);
        for (const key of change.remove) delete labels[key];
        for (const pair of change.set) labels[keyOf(pair)] = labelValueOf(pair);
        break;
      }
      case 'move_peer':
        editOf(change.peer).network = change.network;
        break;
      case 'set_default_action': {
        const network = state.networks.get(change.network);
        const spec = { ...network?.spec, defaultAction: change.action };
        inputs.push({ action: 'update', resource: 'MeshNetwork', name: change.network, spec });
        break;
      }
      default:
        change satisfies never;
    }
  }
  // Labels come first: the policies that follow select by them.
  const edits = [...peers].map(([name, spec]) => ({ action: 'update', resource: 'MeshPeer', name, spec }));
  const typed = [...edits, ...inputs].flatMap((input) => {
    const checked = changeInputSchema.safeParse(input);
    if (!checked.success) {
      issues.push(...checked.error.issues.map(({ path, message }) => `${path.join('/')}: ${message}`));
      return [];
    }
    const parsed = parseChange(checked.data);
    if (parsed.success) return [parsed.data];
    issues.push(...parsed.errors.map(({ pointer, detail }) => `${checked.data.name}${pointer}: ${detail}`));
    return [];
  });
  return issues.length > 0 ? { changes: [], issues } : { changes: typed, issues };
}

interface PeerEdit {
  readonly labels: Record<string, string>;
  network?: string;
}

export function expectationsOf({ expectations }: ModelAnswer): Expectation[] {
  return expectations.map(({ protocol, port, endPort, except, ...rest }) => ({
    ...rest,
    ...(except.length > 0 && { except }),
    ...(protocol !== null && { protocol }),
    ...(protocol !== null && port !== null && { port }),
    ...(protocol !== null && port !== null && endPort !== null && { endPort }),
  }));
}

type Wrong = (text: string) => void;
type ToSelector = (selector: AnswerSelector) => object;

function specOf(
  { action, subject, network, ingress, egress, expiresAt }: AnswerPolicy,
  selectorOf: ToSelector,
  wrong: Wrong,
) {
  return {
    action,
    peerSelector: selectorOf(subject),
    ...(network !== null && { network }),
    ...(ingress && { ingress: ingress.map((rule) => ruleOf('from', rule, selectorOf, wrong)) }),
    ...(egress && { egress: egress.map((rule) => ruleOf('to', rule, selectorOf, wrong)) }),
    ...(expiresAt !== null && { expiresAt }),
  };
}

function ruleOf(side: 'from' | 'to', { peers, ports }: AnswerRule, selectorOf: ToSelector, wrong: Wrong) {
  const entries = peers.map(({ selector, ipBlock }) => {
    // An entry that says nothing would mean anyone.
    if ((selector === null) === (ipBlock === null)) wrong('an entry of peers has either a selector or an ipBlock');
    if (ipBlock)
      return { ipBlock: { cidr: ipBlock.cidr, ...(ipBlock.except.length > 0 && { except: ipBlock.except }) } };
    return { peerSelector: selector ? selectorOf(selector) : {} };
  });
  return {
    [side]: entries,
    ports: ports.map(({ protocol, port, endPort }) => ({
      protocol,
      ...(port !== null && { port }),
      ...(endPort !== null && { endPort }),
    })),
  };
}

function toSelector({ peer, labels, expressions }: AnswerSelector, wrong: Wrong): object {
  if (peer !== null) {
    if (labels.length + expressions.length > 0) wrong('a selector has either a peer or labels and expressions');
    return { peers: [peer] };
  }
  const matchLabels: Record<string, string> = {};
  for (const pair of labels) {
    const key = keyOf(pair);
    if (Object.hasOwn(matchLabels, key)) wrong(`no peer has two values of ${key}: use In, or two entries`);
    matchLabels[key] = labelValueOf(pair);
  }
  for (const { key, labels: of } of expressions) {
    if (of.some((pair) => keyOf(pair) !== key)) wrong(`the labels of an expression on ${key} are of that key`);
  }
  return {
    ...(labels.length > 0 && { matchLabels }),
    ...(expressions.length > 0 && {
      matchExpressions: expressions.map(({ key, operator, labels: of }) => ({
        key,
        operator,
        ...(of.length > 0 && { values: of.map(labelValueOf) }),
      })),
    }),
  };
}

function keyOf(pair: string): string {
  return pair.slice(0, pair.indexOf('='));
}

function labelValueOf(pair: string): string {
  return pair.slice(pair.indexOf('=') + 1);
}
