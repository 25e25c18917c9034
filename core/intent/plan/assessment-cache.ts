import { parseInstant } from '../../base/time.ts';
import { renumbers } from '../../changes/renumber.ts';
import { beginOf } from '../../model/policy-match.ts';
import { BEGIN_SLACK_MS, beginsOf } from '../../state/begins.ts';
import { decidingState, type NetworkState } from '../../state/state.ts';
import type { Requester } from '../verify/findings.ts';
import type { Assessment, Proposal } from './assessment.ts';

/** Everything that an assessment depends on besides the records of the network and the instant. */
export interface AssessmentInputs {
  readonly proposal: Proposal;
  readonly requester: Requester | undefined;
  /** Settings of the workspace, what joining devices get, and the versions of its assertions: plain data. */
  readonly facts: readonly unknown[];
}

interface Entry extends Pick<NetworkState, 'policies' | 'waiting' | 'networks' | 'agents'> {
  readonly key: string;
  /** Valid from the first instant until before the second, ms. */
  readonly from: number;
  readonly until: number;
  readonly assessment: Assessment;
}

/** Assessments of one state: those of a few plans at a time. Apply, review and execution ask for the same one. */
const MAX_ENTRIES = 8;

/** By the peers of a state: when the state is no longer current, its assessments go with it. */
const caches = new WeakMap<NetworkState['peers'], readonly Entry[]>();

/**
 * Returns the assessment of a proposal on a state. Makes it once, until the network, the caller, the settings or a token
 * differs, or anything in it ends. Presence decides nothing, so states that differ in it alone share assessments.
 *
 * @param now in milliseconds
 */
export async function cachedAssessment(
  state: NetworkState,
  inputs: AssessmentInputs,
  now: number,
  make: () => Promise<Assessment>,
): Promise<Assessment> {
  const key = keyOf(inputs);
  const isValid = (entry: Entry) =>
    entry.policies === state.policies &&
    entry.waiting === state.waiting &&
    entry.networks === state.networks &&
    entry.agents === state.agents &&
    entry.from <= now &&
    now < entry.until;
  const known = caches.get(state.peers)?.find((entry) => entry.key === key && isValid(entry));
  // All that it rests on is as it was, so its read set begins at the revision of now.
  if (known) return { ...known.assessment, state };
  const assessment = await make();
  // A released address is quarantined from the instant of its write on, and a former block carried, so that these are made each time.
  const isTimed = assessment.ops.some((op) => 'record' in op && op.record.kind === 'AddressRest');
  if (isTimed || renumbers(assessment.ops, state)) return assessment;
  const { policies, waiting, networks, agents } = state;
  const until = nextEnd(state, assessment, inputs.proposal, now);
  const entry: Entry = {
    key,
    policies,
    waiting,
    networks,
    agents,
    from: now,
    until,
    assessment: withoutPresence(assessment),
  };
  const others = (caches.get(state.peers) ?? []).filter((one) => one.key !== key && isValid(one));
  caches.set(state.peers, [entry, ...others].slice(0, MAX_ENTRIES));
  return assessment;
}

/** Proposals come from plans and workflows too, whose other fields an assessment does not read. */
function keyOf({ proposal, requester, facts }: AssessmentInputs): string {
  const { changes, readBy, sentence, intent, askedBy, notes, questions, expectations, records } = proposal;
  const { callerExpectations, orders, edits, hold, intended, plannedBy } = proposal;
  const stated = [expectations, records, callerExpectations, orders, edits, hold, intended, plannedBy];
  const asker = requester && [requester.id, requester.peer];
  return JSON.stringify([changes, readBy, sentence, intent, askedBy, notes, questions, stated, asker, facts]);
}

/** A kept state holds all that changed in it since, and presence changes all the time. */
function withoutPresence(assessment: Assessment): Assessment {
  const { state, view } = assessment;
  return { ...assessment, state: decidingState(state), view: { ...view, after: decidingState(view.after) } };
}

interface Ending {
  readonly spec: { readonly expiresAt?: string | undefined };
}

/** Returns the first instant after `now` at which a policy begins, or a record of either state or an address in quarantine ends, ms. */
function nextEnd(
  before: NetworkState,
  { ops, view: { after } }: Assessment,
  { intended }: Proposal,
  now: number,
): number {
  let next = Number.POSITIVE_INFINITY;
  const see = (at: number) => {
    if (at > now && at < next) next = at;
  };
  const seeAll = (records: Iterable<Ending>) => {
    for (const { spec } of records) if (spec.expiresAt !== undefined) see(parseInstant(spec.expiresAt));
  };
  for (const { peers, policies, agents } of [before, after])
    for (const map of [peers, policies, agents]) seeAll(map.values());
  const seeBegin = (at: number) => [at - BEGIN_SLACK_MS, at].forEach(see);
  beginsOf(before, after).forEach(seeBegin);
  for (const op of ops) if ('record' in op && op.record.kind === 'MeshPolicy') seeBegin(beginOf(op.record.spec));
  for (const { spec } of before.quarantine.values()) see(spec.until);
  for (const change of intended?.edits ?? [])
    if ('spec' in change && 'expiresAt' in change.spec) seeAll([{ spec: change.spec }]);
  return next;
}
