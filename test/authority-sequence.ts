import { record, recordApproval } from './authority-ledger.ts';
import {
  actingAgent,
  approvalFindings,
  barredFindings,
  type Findings,
  fourEyesFindings,
  growthFindings,
  needsSecondPerson,
  openingFindings,
  outlivingFindings,
  reachFindings,
  scopeFindings,
  selfApprovalAllowed,
  shownFindings,
  writeFindings,
} from './authority-oracle.ts';
import { type View, viewOf } from './authority-reach.ts';
import { buildScene, type Scene } from './authority-scene.ts';
import { type Done, lineOf, makeStep, setUp } from './authority-steps.ts';

/** What went wrong in a sequence of steps, with its story; undefined where nothing did. */
export async function runSequence(
  rootSeed: number,
  seeds: readonly number[],
  onStep: (done: Done) => void = () => {},
): Promise<string | undefined> {
  await using scene = await buildScene();
  const [root, ...rest] = await setUp(scene, rootSeed);
  if (!root) throw new Error('Nobody can set the scene up.');
  record(scene.ledger, root, scene.takeCommits());
  const story = [root, ...rest].map(lineOf);
  let before = viewOf(await scene.state(), scene.kit.clock.time);
  for (const seed of seeds) {
    const was = { selfApproved: await selfApprovalAllowed(scene), secondPerson: await needsSecondPerson(scene) };
    scene.takeCommits();
    const found: Findings = [];
    const done = await makeStep(scene, seed, async () => {
      found.push(...(await outlivingFindings(scene, await viewNow(scene, before), false)));
    });
    if (!done) continue;
    onStep(done);
    story.push(lineOf(done));
    found.push(...(await check(scene, done, before, was)));
    before = await viewNow(scene, before);
    if (found.length > 0) return [...found, '', ...story].join('\n');
  }
  return undefined;
}

interface Settings {
  readonly selfApproved: boolean;
  readonly secondPerson: boolean;
}

async function check(scene: Scene, done: Done, before: View, was: Settings): Promise<Findings> {
  const commits = scene.takeCommits().filter(({ actor }) => actor !== 'system:test');
  recordApproval(scene.ledger, done);
  const written = writeFindings(scene, done, commits);
  if (was.secondPerson) written.push(...fourEyesFindings(scene, done, commits));
  record(scene.ledger, done, commits);
  const after = await viewNow(scene, before);
  if (after === before && commits.length === 0) return [];
  const actor = actingAgent(scene.ledger, done.who);
  return [
    ...reachFindings(scene.ledger, after),
    ...(actor && after !== before ? openingFindings(scene.ledger, actor, before, after) : []),
    ...(actor && after !== before ? growthFindings(scene.ledger, actor, before, after) : []),
    ...(await outlivingFindings(scene, after, true)),
    ...written,
    ...(await approvalFindings(scene, done, was.selfApproved)),
    ...(await shownFindings(scene, done, before, after)),
    ...(await scopeFindings(scene)),
    ...(await barredFindings(scene)),
  ];
}

/** The view now; the same one where nothing has changed. */
async function viewNow(scene: Scene, before: View): Promise<View> {
  const state = await scene.state();
  const now = scene.kit.clock.time;
  const same =
    before.now === now &&
    (['peers', 'policies', 'networks', 'agents'] as const).every((field) => before.state[field] === state[field]);
  return same ? before : viewOf(state, now);
}
