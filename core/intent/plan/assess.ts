import { createHash } from 'node:crypto';
import { brokenAssertions } from '../../assertions/guard.ts';
import { controlsOfChange } from '../../authority/controls.ts';
import { futureOf } from '../../authority/future.ts';
import { joinGrantsOf } from '../../authority/join-grants.ts';
import { beyondAuthority } from '../../authority/judge.ts';
import { comparedAt } from '../../authority/state-after.ts';
import { writesOf } from '../../authority/writes.ts';
import { isAgentId } from '../../base/ids.ts';
import { parseInstant } from '../../base/time.ts';
import { zonedText } from '../../base/time-zone.ts';
import { type NetworkChange, planChanges } from '../../changes/changes.ts';
import { brokenControls } from '../../compliance/flips.ts';
import { namedTerms } from '../../effect/named-terms.ts';
import { effectTitle } from '../../effect/title.ts';
import { workspaceById } from '../../model/workspaces.ts';
import { changedBegins, momentOf } from '../../state/begins.ts';
import { type NetworkState, recordIn } from '../../state/state.ts';
import { holdUnmet, ordersUnmet } from '../orders/judge-orders.ts';
import { beginningTexts, begunTexts, emptiedTexts, endingTexts, movedTexts } from '../verify/ending.ts';
import type { RecordExpectation } from '../verify/expectation.ts';
import { unmetExpectations } from '../verify/expectations.ts';
import {
  closesUnseen,
  type Finding,
  findingsOf,
  isBeyondNamed,
  isUnseen,
  makesHole,
  opensUnseen,
  type Requester,
} from '../verify/findings.ts';
import { opensAsOrdered } from '../verify/joining.ts';
import { controlRanges } from '../verify/lock-out.ts';
import { revisionsOf, unmetRecords } from '../verify/record-expectations.ts';
import { riskOf } from '../verify/risk.ts';
import type { Assessment, Proposal } from './assessment.ts';
import { cachedAssessment } from './assessment-cache.ts';
import { isAutoApproved } from './auto-approval.ts';
import { expectationText, hasStatement, type IntentReading, intentReading, type ReadBy, recordText } from './check.ts';
import { diffMarkdown, type PlanView } from './diff-markdown.ts';
import { boundsOf, effectOfChanges, namedByReading } from './named.ts';
import { ordersTitle, planSummary } from './plan-title.ts';
import type { PlanServices } from './services.ts';
import { boundChanges, orderedPolicies, shownChanges, withAuthorship } from './shown-changes.ts';

/**
 * Returns the effect of a proposal on the newest state: the one assessment behind plans, their application and their
 * execution.
 *
 * @throws MeshError as `planChanges` does, when the changes cannot be made.
 */
export async function assess(
  services: AssessServices,
  workspace: string,
  proposal: Proposal,
  requester: Requester | undefined,
): Promise<Assessment> {
  const { store, states, clock } = services;
  const state = await states.current(workspace);
  // Read after the state: newer tokens and assertions count, and make the read set a changed one.
  const [record, joins, assertions] = await Promise.all([
    workspaceById(services, workspace),
    joinGrantsOf(services, workspace),
    store.list(workspace, 'PolicyAssertion'),
  ]);
  const now = clock.now();
  const facts = [record.uid, record.revision, joins, assertions.items.map(({ uid, revision }) => [uid, revision])];
  return cachedAssessment(state, { proposal, requester, facts }, now, () =>
    assessOn(services, { state, record, joins, now }, proposal, requester),
  );
}

type AssessServices = Pick<PlanServices, 'store' | 'states' | 'clock' | 'settings'>;

interface Moment {
  readonly state: NetworkState;
  readonly record: Awaited<ReturnType<typeof workspaceById>>;
  readonly joins: Awaited<ReturnType<typeof joinGrantsOf>>;
  readonly now: number;
}

async function assessOn(
  services: AssessServices,
  { state, record, joins, now }: Moment,
  proposal: Proposal,
  requester: Requester | undefined,
): Promise<Assessment> {
  const { changes: given, expectations, records, callerExpectations = [], sentence } = proposal;
  const { orders, edits = [], hold = [], intended, plannedBy, readBy, notes = [], questions = [] } = proposal;
  const { states } = services;
  const planned = planChanges(state, given, now, controlRanges(services.settings));
  const { ops, after, outcomes, changes } = planned;
  // As of when it changes anything; where all is so already, as of when it is to be so.
  const [{ startsAt } = {}] = orders ?? [];
  const moment =
    changes.length === 0 && startsAt !== undefined
      ? Math.max(now, parseInstant(startsAt))
      : momentOf(state, after, now);
  const compared = comparedAt(state, after, moment, states);
  const begins = changedBegins(state, after).find((begin) => begin > now);
  const { before: old, after: next, was, is, effect, now: at } = compared;
  const later = changedBegins(state, after)
    .filter((begin) => begin > at)
    .map((begin) => comparedAt(state, after, begin, states));
  const unsigned = shownChanges(planned, state, record.spec.namespace);
  const agent = [...state.agents.values()].find(({ uid }) => uid === requester?.id);
  const callerPeer = agent?.status.peerRef ?? requester?.peer;
  const policies = new Set(
    unsigned.flatMap(({ resource, action, name }) => (resource === 'MeshPolicy' && action !== 'delete' ? [name] : [])),
  );
  const isStated = hasStatement(proposal);
  // A caller's own expectations do not widen what the intent says.
  const named = isStated || callerExpectations.length === 0 ? expectations : callerExpectations;
  const own = orders && { orders, edits };
  const reading = intentReading(proposal) ?? (isStated ? undefined : own);
  const bounds = boundsOf(named.length, records.length, proposal, reading);
  const stated = reading && saidBeside(reading, own);
  const isPersons = requester === undefined || !isAgentId(requester.id);
  const future = futureOf(compared, { joins, isPersons }, states);
  const beyond =
    requester && !isPersons
      ? beyondAuthority(
          requester.id,
          { states, state, writes: writesOf(ops, ({ kind, name }) => recordIn(state, kind, name)), now },
          compared,
          future,
        )
      : undefined;
  const controls = controlsOfChange(compared, { joins, settings: record.spec.settings, states });
  const findings = findingsOf({
    before: old,
    after: next,
    said: stated && effectOfChanges(stated, at, states),
    was,
    is,
    effect,
    policies,
    expectations: named,
    ordered: reading && namedByReading(reading, at),
    isWritten: reading !== undefined && reading !== intended,
    author: authorOf(proposal, isStated),
    through: [...new Set((orders ?? []).flatMap(({ through = [] }) => through))],
    bounds,
    beyond,
    future,
    later,
    callerPeer,
    settings: services.settings,
    controls,
  });
  const { broken } = await brokenAssertions(services, state, after);
  const past = await pastStates(services, state.workspace, records);
  const [unmetStated, unmetOwn] = [expectations, callerExpectations].map((all) => unmetExpectations(all, next, is));
  const unmet = [...(unmetStated ?? []), ...(unmetOwn ?? [])];
  const missing = unmetRecords(records, after, past);
  const [unmetOrders, heldOrders] = ordersUnmet(orders ?? [], { after: next, is });
  const [unmetIntent] = ordersUnmet(intended?.orders ?? [], { after: next, is });
  const unmetHold = holdUnmet(hold, { after: next, is });
  const objections = [
    ...(unmetStated ?? []).map(({ detail }) => `${sentenceCase(authorOf(proposal, true))}: ${detail}`),
    ...(unmetOwn ?? []).map(({ detail }) => `Your expectations: ${detail}`),
    ...missing,
    ...unmetOrders.map((text) => `${ORDERS_OF[readBy]}: ${text}`),
    ...unmetIntent.map((text) => `${ORDERS_OF.language}: ${text}`),
    // A planner may add to what its caller holds it to.
    ...unmetHold.map((text) => `${plannedBy === 'caller' ? 'Your hold' : 'What must hold'}: ${text}`),
    ...broken.map(({ name, detail }) => `The assertion ${name} would fail: ${detail}.`),
    ...findings.flatMap(({ blocks, message }) => (blocks ? [message] : [])),
  ];
  const warned = (isIt: (finding: Finding) => boolean) =>
    findings.flatMap((finding) => (!finding.blocks && isIt(finding) ? [finding.message] : []));
  const [opens, beyondNamed, closes] = [warned(opensUnseen), warned(isBeyondNamed), warned(closesUnseen)];
  const others = warned((finding) => !isBeyondNamed(finding) && (makesHole(finding) || !isUnseen(finding)));
  const isAsked = beyondNamed.length + questions.length > 0;
  const isUnknown = isAsked || findings.some(({ code }) => code === 'OUTSIDE_UNKNOWN');
  const isOwn = callerExpectations.length + hold.length > 0 || (orders !== undefined && plannedBy === 'caller');
  const expectationsHold = (unmetOwn ?? []).length + unmetOrders.length + unmetHold.length === 0;
  const unmetReading = [...(unmetStated ?? []), ...missing, ...unmetIntent, ...unmetOrders];
  const differs = unmetReading.length > 0 || findings.some(isExcess) || (isOwn && !expectationsHold);
  const check = !isStated ? 'not checked' : differs ? 'differs' : isUnknown ? 'not checked' : 'matches';
  const notChanged = heldOrders.map((text) => `not changed: ${text}`);
  const told = [
    ...notes,
    ...notChanged,
    ...begunTexts(changes, state, now),
    ...beginningTexts(changes, at, now),
    ...endingTexts(changes, { before: old, after: next, now: at }, states),
    ...emptiedTexts(changes, state),
  ];
  const warnings = [...opens, ...beyondNamed, ...closes, ...told, ...others];
  const risk = riskOf({ ...compared, callerPeer, findings, future }, later);
  // A token that is given out meanwhile adds to what closes for newcomers: nobody is asked again about what was named.
  const failing = brokenControls(controls);
  // The orders of the title name devices that join later; the warnings say it all the same.
  const isNamed = own !== undefined && opensAsOrdered(future, namedByReading(own, at));
  const titled = [
    ...warned((finding) => opensUnseen(finding) && !(isNamed && finding.code === 'OPENS_TO_NEWCOMERS')),
    ...(later.length > 0 ? warned(({ code }) => code === 'CLOSES_LATER') : []),
  ];
  const terms = [
    ...[...(orders ?? []), ...(intended?.orders ?? [])].flatMap(({ from, to }) => [...from, ...to]),
    ...[...expectations, ...callerExpectations].flatMap(({ src, dst }) => [src, dst]),
  ];
  const written = unsigned.flatMap(({ resource, name }) => (resource === 'MeshPolicy' ? [name] : []));
  const words = namedTerms({ terms, policies: written }, old, next);
  const from = at > now ? zonedText(at, record.spec.settings.timeZone ?? 'UTC') : undefined;
  const isOrderedThen = orders?.some(({ startsAt }) => startsAt !== undefined && parseInstant(startsAt) === at);
  const effectLine = effectTitle(effect, next, {
    later: titled,
    failing,
    lead: movedTexts(changes, old, record.spec.settings.timeZone),
    ...(from !== undefined && { when: isOrderedThen ? 'then ' : `from ${from} on, ` }),
    named: words,
  });
  const ordered = ordersTitle(orders);
  const title = planSummary(ordered, effectLine);
  // A change that an earlier version put forward did not name the public block that it routes.
  const publicBlocks = effect.routes.flatMap(({ isPublic, block }) => (isPublic ? [`routes ${block}`] : []));
  const closed = closes.length > 0 ? `closed ${future.closed.digest}` : '';
  const ahead = [future.opened.digest, closed, ...failing, ...publicBlocks];
  const isAuto =
    !beyond &&
    isAutoApproved(
      {
        check,
        readBy,
        askedBy: proposal.askedBy,
        riskLevel: risk.level,
        objections,
        isUnseen: findings.some(isUnseen),
        isAsked,
        failsControls: failing.length > 0,
        isPublic: publicBlocks.length > 0,
      },
      record.spec.settings,
    );
  const shown = withAuthorship(unsigned, after, record.spec.namespace, {
    agent: isAuto && !isPersons ? requester.id : undefined,
    ordered: requester && orderedPolicies(proposal, requester.id),
  });
  const view: PlanView = {
    title: ordered ?? effectLine,
    ...(ordered !== undefined && { effectLine }),
    ...(isOwnSentence(proposal) && { intent: proposal.intent }),
    ...(proposal.askedBy && { askedBy: proposal.askedBy }),
    readBy,
    sentence,
    shown,
    effect,
    ...(from !== undefined && { from }),
    after: next,
    named: words,
    risk,
    beyondNamed,
    isAuto,
    failsControls: failing.length > 0,
    warnings: [...opens, ...closes, ...told, ...others],
    check,
    stated: isStated ? [...records.map(recordText), ...expectations.map(expectationText)] : [],
    ...(intended && { intended: intended.orders.map(({ text }) => text) }),
    ...(isOwn && { expectationsHold }),
    ...(orders?.length && { orders: orders.map(({ text }) => text) }),
    ordersMet: unmetOrders.length === 0 && !findings.some(isExcess),
    hold: hold.map(({ text }) => text),
    callerExpectations: callerExpectations.map(expectationText),
    objections,
    settings: record.spec.settings,
  };
  return {
    state,
    ops,
    changes,
    outcomes,
    shown,
    effect,
    title,
    risk,
    warnings,
    check,
    ...(isOwn && { expectationsHold }),
    ...(heldOrders.length > 0 && { notChanged: heldOrders }),
    unmet,
    unmetRecords: missing,
    broken,
    findings,
    beyond,
    controls,
    failsControls: failing,
    isAuto,
    ...(begins !== undefined && { begins }),
    objections,
    view,
    diffMarkdown: diffMarkdown(view),
    digest: createHash('sha256')
      .update(
        JSON.stringify([effect.digest, boundChanges(unsigned, state, after), ...ahead.filter((one) => one !== '')]),
      )
      .digest('hex'),
  };
}

/** Returns true where the requester wrote a sentence: without one, the words of the orders stand for it. */
function isOwnSentence({ intent, sentence }: Proposal): boolean {
  return intent !== undefined && intent !== sentence && `${intent}.` !== sentence;
}

const ORDERS_OF = {
  language: 'The sentence as it was read',
  model: "The model's orders",
  agent: 'Your orders',
  person: 'Your orders',
} as const satisfies Record<ReadBy, string>;

/** Returns the changes whose effect a reading names beside its orders; undefined where they are all that is proposed. */
function saidBeside(
  { orders, edits }: IntentReading,
  own: IntentReading | undefined,
): readonly NetworkChange[] | undefined {
  if (edits.length === 0 && orders.length > 0) return undefined;
  return own?.edits === edits && orders.length === 0 ? undefined : edits;
}

/** Names what says which connections may open and close: the intent, or what its caller sent beside it. */
function authorOf({ plannedBy, readBy, orders = [], callerExpectations = [] }: Proposal, isOfIntent: boolean): string {
  if (!isOfIntent && orders.length > 0) return readBy === 'model' ? "the model's orders" : 'your orders';
  if (!isOfIntent && callerExpectations.length > 0) return 'your expectations';
  if (plannedBy === 'revert') return 'the state that is brought back';
  return plannedBy === 'model' ? "the model's own expectations" : 'the sentence as it was read';
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Objections to effects beyond the peers that were named. */
function isExcess({ code, blocks }: Finding): boolean {
  return blocks && (code === 'OPENS_MORE' || code === 'CLOSES_MORE');
}

async function pastStates(
  { states }: Pick<PlanServices, 'states'>,
  workspace: string,
  records: readonly RecordExpectation[],
): Promise<ReadonlyMap<number, NetworkState>> {
  const revisions = revisionsOf(records);
  const past = await Promise.all(revisions.map((revision) => states.asOf(workspace, { revision })));
  return new Map(past.map((state, index) => [revisions[index] ?? 0, state]));
}
