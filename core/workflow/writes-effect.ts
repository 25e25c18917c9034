import { futureOf } from '../authority/future.ts';
import { joinGrantsOf } from '../authority/join-grants.ts';
import { shownDigest } from '../authority/shown-digest.ts';
import { comparison } from '../authority/state-after.ts';
import type { Write } from '../authority/writes.ts';
import type { Computation } from '../compute/computation.ts';
import { type EffectView, effectView } from '../effect/effect-view.ts';
import { unseenFindings } from '../intent/verify/findings.ts';
import type { NetworkServices } from '../state/services.ts';

interface WritesAssessment {
  /** Digest of the effect that approvers see. */
  readonly shown: string;
  readonly warnings: readonly string[];
  readonly effect: EffectView;
}

/** Computes the effect of writes that wait for a person. */
export const assessWrites: Computation<
  Pick<NetworkServices, 'store' | 'states' | 'clock'>,
  {
    /** Writes in the workspace whose people decide. */
    readonly writes: readonly Write[];
    /** All writes of the call. */
    readonly named: readonly Write[];
  },
  WritesAssessment
> = {
  name: 'assess_writes',
  async run(services, workspace, { writes, named }) {
    const { states, clock } = services;
    const state = await states.current(workspace);
    const change = comparison({ states, state, writes, now: clock.now() });
    const { effect } = change;
    const future = futureOf(change, { joins: await joinGrantsOf(services, workspace), isPersons: true }, states);
    return {
      shown: shownDigest(named, change, future),
      warnings: [...unseenFindings({ effect, future }).map(({ message }) => message), ...renamedTexts(writes)],
      effect: effectView(effect),
    };
  },
};

function renamedTexts(writes: readonly Write[]): string[] {
  return writes.flatMap(({ kind, name, before }) =>
    kind === 'MeshPeer' && before && before.name !== name
      ? [`The peer ${before.name} is called ${name} from then on: the effect shows it as ${before.name}.`]
      : [],
  );
}
