import type { WorkspaceSettings } from '../model/workspaces.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { NetworkState } from '../state/state.ts';
import { catalogOf } from './catalog.ts';
import { type CheckResult, listed } from './check-result.ts';
import { type CheckName, checkOf } from './checks/index.ts';
import { type ControlStatus, statusOf } from './control-result.ts';
import { type Catalog, type Control, FRAMEWORKS, type Framework } from './frameworks.ts';
import { type ScopeRule, scopeRule } from './scope.ts';
import type { View } from './view.ts';

/** How two states of a network are judged by a control; a flip where they are judged otherwise. */
export interface ControlFlip {
  readonly framework: Framework;
  /** Its id, such as `PCI-DSS-1.3`. */
  readonly control: string;
  readonly title: string;
  readonly from: ControlStatus;
  readonly to: ControlStatus;
  /** The evidence for the later state: the peers and policies that decide it. */
  readonly evidence: string;
}

/** A network at one instant. */
export interface Side {
  readonly state: NetworkState;
  /** Milliseconds. */
  readonly at: number;
  /** The state compiled for that instant; asked for where a control looks at who reaches whom. */
  readonly reach: () => Reachability;
}

type Settings = Pick<WorkspaceSettings, 'compliance'>;

/**
 * The frameworks that changes of a workspace are judged by: those that its settings name and those it has a schedule of.
 * Where they name none, labels say who is concerned: a framework whose data one of these devices has. SOC 2 is about
 * every peer, so it has to be named.
 */
export function frameworksInForce({ compliance }: Settings, devices: Iterable<LabeledPeer>): Framework[] {
  const scheduled = (framework: Framework) => compliance?.schedules?.[framework]?.enabled === true;
  const named = compliance?.frameworks;
  const all = [...devices];
  return FRAMEWORKS.filter((framework) => {
    if (scheduled(framework)) return true;
    return named ? named.includes(framework) : hasData(framework, { compliance }, all);
  });
}

interface LabeledPeer {
  readonly labels: Parameters<ScopeRule['includes']>[0];
}

function peersOf(...sides: readonly Pick<Side, 'state'>[]): LabeledPeer[] {
  return sides.flatMap(({ state }) => [...state.peers.values()]);
}

function hasData(framework: Framework, settings: Settings, devices: readonly LabeledPeer[]): boolean {
  const { scope } = catalogOf(framework);
  if (scope === 'everyone') return false;
  const { includes } = scopeRule(scope, settings);
  return devices.some(({ labels }) => includes(labels));
}

/**
 * How two states are judged by each control that rests on the state of the network alone, each state by itself: not by those
 * about the age of keys, about approvals, and about what is no part of the network.
 */
export function judgedControls(
  before: Side,
  after: Side,
  settings: Settings,
  frameworks: readonly Framework[] = frameworksInForce(settings, peersOf(before, after)),
): ControlFlip[] {
  return frameworks.flatMap((framework) => {
    const catalogue = catalogOf(framework);
    const [was, is] = [before, after].map((side) => judgeOf(viewOf(side, catalogue, settings)));
    return catalogue.controls.filter(restsOnState).flatMap((control): ControlFlip[] => {
      const [old, now] = [was?.(control.check), is?.(control.check)];
      if (!old || !now) return [];
      const [from, to] = [statusOf(control, old.holds, false), statusOf(control, now.holds, false)];
      return [{ framework, control: control.id, title: control.title, from, to, evidence: now.facts }];
    });
  });
}

/** Returns the controls whose result differs between two states. */
export function flippedControls(
  before: Side,
  after: Side,
  settings: Settings,
  frameworks?: readonly Framework[],
): ControlFlip[] {
  if (isSameNetwork(before, after)) return [];
  return judgedControls(before, after, settings, frameworks).filter(({ from, to }) => from !== to);
}

/**
 * Returns the effect of a change on controls: those that flip, and for each framework its scope if a remaining peer leaves it.
 * No control judges such a peer any more, so its scope counts as a failing control.
 */
export function touchedControls(before: Side, after: Side, settings: Settings): ControlFlip[] {
  const frameworks = frameworksInForce(settings, peersOf(before, after));
  const left = frameworks.flatMap((framework) => scopeFlip(framework, before, after, settings));
  return [...flippedControls(before, after, settings, frameworks), ...left];
}

function scopeFlip(framework: Framework, before: Side, after: Side, settings: Settings): ControlFlip[] {
  const { includes } = scopeRule(catalogOf(framework).scope, settings);
  const inScope = new Set(
    [...before.state.peers.values()].filter(({ labels }) => includes(labels)).map(({ uid }) => uid),
  );
  const gone = [...after.state.peers.values()].filter(({ uid, labels }) => inScope.has(uid) && !includes(labels));
  if (gone.length === 0) return [];
  const names = gone.map(({ name, uid }) => `${name} (${uid})`);
  const evidence = `${listed(names, MAX_CONTROLS)} ${gone.length === 1 ? 'leaves' : 'leave'} the scope of ${framework} by ${gone.length === 1 ? 'its labels' : 'their labels'}.`;
  const control = `${framework.toUpperCase()}-scope`;
  return [{ framework, control, title: 'Peers in scope', from: 'pass', to: 'fail', evidence }];
}

/** The controls that fail after a change and did not before: they held, or there was nothing to judge. */
export function brokenControls(flips: readonly ControlFlip[]): string[] {
  return flips.filter(isBroken).map(({ control }) => control);
}

function isBroken({ to }: Pick<ControlFlip, 'to'>): boolean {
  return to === 'fail';
}

/** Controls told of one reason. */
const MAX_CONTROLS = 8;

/**
 * Returns the effect of a change on controls as sentences without a subject, one for all controls with the same evidence:
 * `fails PCI-DSS-1.3, PCI-DSS-1.4.1: rule 0 of open (pol_1) lets anyone in to card-1 (p_1).`
 */
export function controlTexts(flips: readonly ControlFlip[]): { readonly broken: string[]; readonly mended: string[] } {
  const textsOf = (some: readonly ControlFlip[], verb: string) =>
    [...Map.groupBy(some, ({ evidence }) => evidence)].map(([evidence, same]) => {
      const controls = listed(
        same.map(({ control }) => control),
        MAX_CONTROLS,
      );
      return `${verb} ${controls}: ${evidence}`;
    });
  return {
    broken: textsOf(flips.filter(isBroken), 'fails'),
    mended: textsOf(
      flips.filter(({ from }) => from === 'fail'),
      'mends',
    ),
  };
}

/** Returns true if a state of a network alone decides the control. */
function restsOnState({ check }: Pick<Control, 'check'>): boolean {
  const own = checkOf(check);
  return own.on === 'state' && own.atEachMoment !== true;
}

function viewOf({ state, at, reach }: Side, { scope, subject }: Catalog, settings: Settings): View {
  const sources = settings.compliance?.sources ?? [];
  // Only checks that are asked at each moment look at who reviewed what.
  return { state, at, reach, rule: scopeRule(scope, settings), subject, sources, reviewOf: () => undefined };
}

/** Asks each check once; several controls may rest on it. */
function judgeOf(view: View): (name: CheckName) => CheckResult | undefined {
  const readings = new Map<CheckName, CheckResult | undefined>();
  return (name) => {
    if (!readings.has(name)) {
      const check = checkOf(name);
      readings.set(name, check.on === 'state' ? check.judge(view) : undefined);
    }
    return readings.get(name);
  };
}

function isSameNetwork({ state: a, at }: Side, { state: b, at: other }: Side): boolean {
  const isSame = a.peers === b.peers && a.policies === b.policies && a.networks === b.networks && a.agents === b.agents;
  return isSame && at === other;
}
