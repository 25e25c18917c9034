import { computed, effect, signal } from '@preact/signals';
import { lastUser } from '../../api/session.ts';
import { workspaceId } from '../../api/workspace.ts';
import type { Asked } from './answering.ts';

/** Questions that are kept. */
const MOST = 20;

interface Kept {
  readonly workspace: string | undefined;
  readonly asked: Asked;
}

/** Kept as long as the page lives and the person is signed in: nothing of it is written to storage. */
const kept = signal<readonly Kept[]>([]);
effect(() => {
  if (lastUser.value === undefined) kept.value = [];
});

/** Of this workspace, the newest first. */
export const pastQuestions = computed(() =>
  kept.value.filter(({ workspace }) => workspace === workspaceId.value).map(({ asked }) => asked),
);

export function keepQuestion(asked: Asked): void {
  kept.value = [{ workspace: workspaceId.value, asked }, ...kept.value].slice(0, MOST);
}

export function forgetQuestions(): void {
  for (const { stop } of pastQuestions.value) stop();
  kept.value = kept.value.filter(({ workspace }) => workspace !== workspaceId.value);
}
