import { futureOf } from '../authority/future.ts';
import { joinsOf } from '../authority/joins.ts';
import { comparison } from '../authority/judge.ts';
import { shownDigest } from '../authority/shown.ts';
import type { Write } from '../authority/writes.ts';
import type { Computation } from '../compute/computation.ts';
import { type EffectView, effectView } from '../effect/effect-view.ts';
import { unseenFindings } from '../intent/verify/findings.ts';
import type { NetworkServices } from '../state/services.ts';

interface Shown {
  /** Names what a person is shown. */
  readonly shown: string;
  readonly warnings: readonly string[];
  readonly effect: EffectView;
}

/** What writes that wait for a person would do. */
export const showWrites: Computation<
  Pick<NetworkServices, 'store' | 'states' | 'clock'>,
  {
    /** Those in the workspace whose people are asked. */
    readonly writes: readonly Write[];
    /** All of the call. */
    readonly named: readonly Write[];
  },
  Shown
> = {
  name: 'show_writes',
  async run(services, workspace, { writes, named }) {
    const { states, clock } = services;
    const state = await states.current(workspace);
    const compared = comparison({ states, state, writes, now: clock.now() });
    const { effect } = compared;
    const future = futureOf(compared, { joins: await joinsOf(services, workspace), isPersons: true }, states);
    return {
      shown: shownDigest(named, compared, future),
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
