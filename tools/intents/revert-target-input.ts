import { invalidInput } from '../../core/base/errors.ts';
import type { RevertTarget } from '../../core/intent/plan/planner.ts';

/** Parses the target of a revert. @throws MeshError `invalid_input` */
export function revertTargetOf(text: string): RevertTarget {
  if (text === 'last') return { to: 'before-last' };
  if (text.startsWith('wf_')) return { to: 'before-workflow', id: text };
  if (text.startsWith('snap_')) return { to: 'snapshot', id: text };
  if (/^[0-9]{1,15}$/.test(text)) return { to: 'revision', revision: Number(text) };
  const detail = 'Name what to undo: last, the id of a workflow, or a revision or the id of a snapshot to go back to.';
  throw invalidInput([{ pointer: '/revert', detail }], `/revert: ${detail}`);
}
