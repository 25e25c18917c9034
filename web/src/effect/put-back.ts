import { signal } from '@preact/signals';
import type { CauseFindings } from '../api/types.ts';
import { holds } from '../api/workspace.ts';

/** A plan that an answer carried along, as findings do. */
export type CarriedPlan = NonNullable<CauseFindings['findings'][number]['restore']>;

/** What is to be taken back: the changes of a workflow, those of one revision, or what a plan does. */
export type PutBackTarget =
  | { readonly workflow_id: string }
  | { readonly undo_revision: number }
  | { readonly plan: CarriedPlan };

/** What a person asked to put back: its plan is shown above the page until it is applied or let be. */
export const putBackTarget = signal<PutBackTarget | undefined>(undefined);

/** Whether the person may have a plan made and apply it: of now, whatever time is looked at. */
export function mayPutBack(): boolean {
  return holds('intents:plan') && holds('intents:apply');
}

/** How long undoing is offered beside a change, ms; the history goes on offering it. */
const UNDO_MS = 10 * 60_000;

/** Whether a change that was carried out at an instant is still offered to be undone where it was decided. */
export function isUndoOffered(at: string): boolean {
  return Date.now() - Date.parse(at) < UNDO_MS;
}

/** For a message that says that a workflow was carried out; undefined for who may not undo it. */
export function undoOf(workflow: string) {
  const run = () => {
    putBackTarget.value = { workflow_id: workflow };
  };
  return mayPutBack() ? { label: 'Revert', run } : undefined;
}
