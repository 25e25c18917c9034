import { assertionText } from '../../assertions/assertion.ts';
import { checker } from '../../assertions/check.ts';
import { withDeparted } from '../../assertions/departed-peers.ts';
import { type ControlFlip, judgedControls } from '../../compliance/flips.ts';
import type { Computation } from '../../compute/computation.ts';
import type { Effect } from '../../effect/effect.ts';
import { effectView } from '../../effect/effect-view.ts';
import { type EffectText, effectTexts } from '../../effect/rows.ts';
import { readSetOf } from '../../state/read-set.ts';
import type { NetworkState } from '../../state/state.ts';
import { namesOf } from '../../state/terms.ts';
import type { Requester } from '../verify/findings.ts';
import { assess } from './assess.ts';
import type { Assessed } from './assessed.ts';
import type { Proposal } from './assessment.ts';
import type { PlanView } from './diff-markdown.ts';
import type { PlanServices } from './services.ts';

/** Most kinds of peers in one answer, of each side. */
export const MAX_KINDS = 50;

/** Most names in one answer, of each side; the first kind alone may have as many as the next bound. */
const MAX_NAMES = 10_000;

/** Most names of one side of a kind; the total stands beside them. */
export const MAX_KIND_NAMES = 10_000;

/** Connections that open or close alike, by kinds of peers. */
export interface EffectKind {
  readonly from: string;
  readonly to: string;
  readonly ports: string;
  readonly pairs: number;
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly srcTotal: number;
  readonly dstTotal: number;
}

export interface EffectKinds {
  /** The largest first, after those from addresses outside. Omitted kinds follow them in the next answer. */
  readonly rows: readonly EffectKind[];
  readonly omittedRows: number;
  readonly omittedPairs: number;
}

/** An assertion in words, before and after a change. */
export interface JudgedAssertion {
  readonly name: string;
  readonly text: string;
  readonly held: boolean;
  readonly holds: boolean;
  /** Why it does not hold after the change. */
  readonly detail?: string;
  /** True if the change opens or closes a connection that the assertion covers. */
  readonly isTouched: boolean;
}

/** The effect of a change on the network as it is now, for the person who decides about it. */
export interface RefreshedPreview extends Omit<Assessed, 'pairs'> {
  readonly kinds: Readonly<Record<'opened' | 'closed', EffectKinds>>;
  /** Sentences without a subject on connections that it opens beyond the named ones. */
  readonly beyondNamed: readonly string[];
  readonly assertions: readonly JudgedAssertion[];
  /** Controls that pass before it and after it. */
  readonly standing: readonly Pick<ControlFlip, 'framework' | 'control' | 'title'>[];
}

/** Assesses a proposal as `assessProposal` does, with all that it takes to decide. */
export const refreshPreview: Computation<
  Pick<PlanServices, 'store' | 'states' | 'clock' | 'settings'>,
  /** `skip`: kinds of each side that earlier answers had. */
  { readonly proposal: Proposal; readonly requester: Requester | undefined; readonly skip?: number },
  RefreshedPreview
> = {
  name: 'refresh_preview',
  async run(services, workspace, { proposal, requester, skip = 0 }) {
    const { states, store, clock } = services;
    const assessment = await assess(services, workspace, proposal, requester);
    const { state, effect, view, unmetRecords: _records, ...rest } = assessment;
    const { after, settings, readBy, sentence } = view;
    const now = clock.now();
    const { items } = await store.list(workspace, 'PolicyAssertion');
    const [was, is] = [withDeparted(state, items, after), withDeparted(after, items, state)].map((one) =>
      checker(one, states.reachability(one, now)),
    );
    const touches = toucher(effect, after);
    const assertions = items.map(({ name, spec }): JudgedAssertion => {
      const flaw = is?.(spec);
      return {
        name,
        text: assertionText(spec),
        held: was?.(spec) === undefined,
        holds: flaw === undefined,
        ...(flaw && { detail: flaw.detail }),
        isTouched: touches(spec.src, spec.dst),
      };
    });
    const [old, next] = [state, after].map((one) => ({
      state: one,
      at: now,
      reach: () => states.reachability(one, now),
    }));
    const judged = old && next ? judgedControls(old, next, settings) : [];
    // A control that passes now and fails later is listed with the controls that the change affects.
    const flipped = new Set(assessment.controls.map(({ control }) => control));
    return {
      ...rest,
      readBy,
      sentence,
      readSet: readSetOf(state),
      effect: effectView(effect),
      kinds: { opened: kindsOf(view, 'opened', skip), closed: kindsOf(view, 'closed', skip) },
      beyondNamed: view.beyondNamed,
      assertions,
      standing: judged.flatMap(({ framework, control, title, from, to }) =>
        from === 'pass' && to === 'pass' && !flipped.has(control) ? [{ framework, control, title }] : [],
      ),
    };
  },
};

function kindsOf({ effect, after, named }: PlanView, side: 'opened' | 'closed', skip: number): EffectKinds {
  const texts = effectTexts(effect, side, after, { limit: MAX_KINDS, order: 'let in first', skip, named });
  const rows = fitting(texts.rows);
  const cut = texts.rows.slice(rows.length);
  const omittedRows = texts.omittedRows + cut.length;
  const omittedPairs = texts.omittedPairs + cut.reduce((sum, { pairs }) => sum + pairs, 0);
  const shown = (names: readonly string[]) => names.toSorted().slice(0, MAX_KIND_NAMES);
  return {
    rows: rows.map(({ from, to, shortPorts, pairs, src, dst }) => ({
      ...{ from, to, ports: shortPorts, pairs },
      ...{ src: shown(src), dst: shown(dst), srcTotal: src.length, dstTotal: dst.length },
    })),
    omittedRows,
    omittedPairs,
  };
}

/** The first of them whose names fit, one at least. */
function fitting(rows: readonly EffectText[]): readonly EffectText[] {
  let names = 0;
  return rows.filter(({ src, dst }, index) => {
    names += src.length + dst.length;
    return index === 0 || names <= MAX_NAMES;
  });
}

/** Says of two terms whether the effect has a connection from one to the other. */
function toucher({ groups }: Pick<Effect, 'groups'>, state: NetworkState): (src: string, dst: string) => boolean {
  const known = new Map<string, ReadonlySet<string>>();
  const membersOf = (term: string) => {
    const members = known.get(term) ?? new Set(namesOf(term, state));
    known.set(term, members);
    return members;
  };
  return (src, dst) => {
    const [from, to] = [membersOf(src), membersOf(dst)];
    return groups.some(
      (group) =>
        group.opened.length + group.closed.length > 0 &&
        group.src.some((name) => from.has(name)) &&
        group.dst.some((name) => to.has(name)),
    );
  };
}
