import type { WorkflowDetail } from '../../api/types.ts';

/** Whether it is an approved call that is not carried out yet. */
export function isToRepeat({ status, call }: Pick<WorkflowDetail, 'status' | 'call'>): boolean {
  return status === 'approved' && call !== null;
}
