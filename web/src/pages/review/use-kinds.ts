import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Drawing, EffectKinds } from '../../api/types.ts';
import type { ShownKinds } from '../../effect/kinds-view.tsx';
import { useAct } from '../../ui/act.ts';

/** One side of a drawing, and more of its kinds on demand: nothing that a change opens is out of sight of who decides. */
export function useKinds(id: string, drawing: Drawing, side: 'opens' | 'closes'): ShownKinds {
  const further = useSignal<readonly EffectKinds[]>([]);
  const { isActing, problem, act } = useAct();
  const { digest } = drawing;
  useLayoutEffect(() => {
    further.value = [];
  }, [digest]);
  const told = [drawing[side], ...further.value];
  const rows = told.flatMap((kinds) => kinds.rows);
  const { omitted_rows, omitted_pairs } = told.at(-1) ?? drawing[side];
  const more = () =>
    act(async () => {
      const params = { path: { id }, query: { skip: rows.length } };
      const next = await answer(api.GET('/api/v1/workflows/{id}/redraw', { params }));
      if (next.drawing?.digest !== digest)
        throw new Problem({ title: 'The network has just changed. Draw the effect again before you decide.' });
      further.value = [...further.value, next.drawing[side]];
    });
  return { kinds: { rows, omitted_rows, omitted_pairs }, isActing: isActing.value, problem: problem.value, more };
}
