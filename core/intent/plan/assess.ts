import { createHash } from 'node:crypto';
import { brokenAssertions } from '../../assertions/guard.ts';
import { controlsOfChange } from '../../authority/controls.ts';
import { futureOf } from '../../authority/future.ts';
import { joinGrantsOf } from '../../authority/join-grants.ts';
import { beyondAuthority } from '../../authority/judge.ts';
import { writesOf } from '../../authority/writes.ts';
import { isAgentId } from '../../base/ids.ts';
import { draftOf } from '../../base/record.ts';
import { type NetworkChange, planChanges } from '../../changes/changes.ts';
import { brokenControls } from '../../compliance/flips.ts';
import { effectOf } from '../../effect/effect.ts';
import { effectTitle } from '../../effect/title.ts';
import { decidedFields } from '../../model/grants.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { workspaceById } from '../../model/workspaces.ts';
import { type NetworkState, recordIn } from '../../state/state.ts';
import { resourceYaml } from '../../views/render-yaml.ts';
import { emptiedTexts, endingTexts } from '../verify/ending.ts';
import type { RecordExpectation } from '../verify/expectation.ts';
import { unmetExpectations } from '../verify/expectations.ts';
import {
  closesUnseen,
  type Finding,
  findingsOf,
  isBeyondNamed,
  isUnseen,
  opensUnseen,
  type Requester,
} from '../verify/findings.ts';
import { controlRanges } from '../verify/lock-out.ts';
import { recordOf, revisionsOf, unmetRecords } from '../verify/record-expectations.ts';
import { riskOf } from '../verify/risk.ts';
import type { Assessment, Proposal } from './assessment.ts';
import { cachedAssessment } from './assessment-cache.ts';
import { expectationText, hasStatement, recordText } from './check.ts';
import { diffMarkdown, type PlanView, type ShownChange } from './diff-markdown.ts';
import { heldAgainst } from './model-words.ts';
import { boundsOf, effectOfSaid } from './named.ts';
import type { PlanServices } from './services.ts';

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
  const { changes: given, expectations, records, callerExpectations = [], said, sentence } = proposal;
  const { plannedBy, readBy, notes = [], questions = [] } = proposal;
  const { states } = services;
  const { ops, after, outcomes, changes } = planChanges(state, given, now, controlRanges(services.settings));
  const [was, is] = [states.reachability(state, now), states.reachability(after, now)];
  const effect = effectOf(was, is);
  const shown = changes.flatMap((change, index) => {
    const { outcome, name } = outcomes[index] ?? {};
    return outcome === 'unchanged' || name === undefined
      ? []
      : [shownChange(change, name, state, after, record.spec.namespace)];
  });
  const agent = [...state.agents.values()].find(({ uid }) => uid === requester?.id);
  const callerPeer = agent?.status.peerRef ?? requester?.peer;
  const policies = new Set(
    shown.flatMap(({ resource, action, name }) => (resource === 'MeshPolicy' && action !== 'delete' ? [name] : [])),
  );
  const isStated = hasStatement(proposal);
  // A caller's own expectations do not widen what the intent says.
  const named = isStated || callerExpectations.length === 0 ? expectations : callerExpectations;
  const bounds = boundsOf(named.length, records.length, proposal);
  const isPersons = requester === undefined || !isAgentId(requester.id);
  const future = futureOf({ before: state, after, was, is, effect, now }, { joins, isPersons }, states);
  const beyond =
    requester && !isPersons
      ? beyondAuthority(
          requester.id,
          { states, state, writes: writesOf(ops, ({ kind, name }) => recordIn(state, kind, name)), now },
          { before: state, after, was, is, effect, now },
          future,
        )
      : undefined;
  const controls = controlsOfChange({ before: state, after, now }, { joins, settings: record.spec.settings, states });
  const findings = findingsOf({
    before: state,
    after,
    said: said && effectOfSaid(said, now, states),
    was,
    is,
    effect,
    policies,
    expectations: named,
    bounds,
    beyond,
    future,
    callerPeer,
    settings: services.settings,
    controls,
  });
  const { broken } = await brokenAssertions(services, state, after);
  const past = await pastStates(services, state.workspace, records);
  const [unmetStated, unmetOwn] = [expectations, callerExpectations].map((all) => unmetExpectations(all, after, is));
  const unmet = [...(unmetStated ?? []), ...(unmetOwn ?? [])];
  const missing = unmetRecords(records, { after, is, past });
  const objections = [
    ...unmet.map(({ detail }) => detail),
    ...missing,
    ...broken.map(({ name, detail }) => `The assertion ${name} would fail: ${detail}.`),
    ...findings.flatMap(({ blocks, message }) => (blocks ? [message] : [])),
  ];
  const warned = (isIt: (finding: Finding) => boolean) =>
    findings.flatMap((finding) => (!finding.blocks && isIt(finding) ? [finding.message] : []));
  const [opens, beyondNamed, closes] = [warned(opensUnseen), warned(isBeyondNamed), warned(closesUnseen)];
  const others = warned((finding) => !isBeyondNamed(finding) && !isUnseen(finding));
  const isAsked = beyondNamed.length + questions.length > 0;
  const isUnknown = isAsked || findings.some(({ code }) => code === 'OUTSIDE_UNKNOWN');
  const differs = (unmetStated ?? []).length + missing.length > 0 || findings.some(isExcess);
  const check = !isStated ? 'not checked' : differs ? 'differs' : isUnknown ? 'not checked' : 'matches';
  const own = callerExpectations.length > 0 ? { expectationsHold: unmetOwn?.length === 0 } : {};
  const told = [...notes, ...endingTexts(changes, { before: state, after }, states), ...emptiedTexts(changes, state)];
  const warnings = [...opens, ...beyondNamed, ...closes, ...told, ...others];
  const risk = riskOf({
    effect,
    before: state,
    after,
    was,
    is,
    callerPeer,
    findings,
    future,
  });
  // A token that is given out meanwhile adds to what closes for newcomers: nobody is asked again about what was named.
  const failing = brokenControls(controls);
  const title = effectTitle(effect, after, { later: opens, failing });
  // A change that an earlier version put forward did not name the public block that it routes.
  const publicBlocks = effect.routes.flatMap(({ isPublic, block }) => (isPublic ? [`routes ${block}`] : []));
  const later = closes.length > 0 ? `closed ${future.closed.digest}` : '';
  const ahead = [future.opened.digest, later, ...failing, ...publicBlocks];
  const view: PlanView = {
    title,
    readBy,
    sentence: plannedBy === 'model' ? heldAgainst(sentence, { effect, after }) : sentence,
    shown,
    effect,
    after,
    risk,
    beyondNamed,
    isAsked,
    isUnseen: opens.length + closes.length > 0,
    failsControls: failing.length > 0,
    warnings: [...opens, ...closes, ...told, ...others],
    check,
    isStated,
    stated: isStated ? [...records.map(recordText), ...expectations.map(expectationText)] : [],
    ...own,
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
    ...own,
    unmet,
    unmetRecords: missing,
    broken,
    findings,
    beyond,
    controls,
    failsControls: failing,
    objections,
    view,
    diffMarkdown: diffMarkdown(view),
    digest: createHash('sha256')
      .update(JSON.stringify([effect.digest, bound(shown, state, after), ...ahead.filter((one) => one !== '')]))
      .digest('hex'),
  };
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

/**
 * Returns the parts of the shown changes that the digest binds. A device changes its own name and key without a decision, so
 * they are left out.
 */
function bound(shown: readonly ShownChange[], before: NetworkState, after: NetworkState): readonly unknown[] {
  const decided = (peer: PeerRecord | undefined) => (peer ? decidedFields(draftOf(peer)) : null);
  return shown.map((change) => {
    const { action, resource, name } = change;
    if (resource !== 'MeshPeer') return change;
    const [was, is] = [before.peers.get(name), after.peers.get(name)];
    return [action, resource, is?.uid ?? was?.uid, decided(was), decided(is)];
  });
}

function shownChange(
  { action, resource }: NetworkChange,
  name: string,
  state: NetworkState,
  after: NetworkState,
  namespace: string,
): ShownChange {
  const yaml = (of: NetworkState) => resourceYaml(recordOf(of, { resource, name }), namespace, of);
  return { action, resource, name, before: yaml(state), after: yaml(after) };
}
