import { useSignal } from '@preact/signals';
import type { Problem } from '../../api/problem.ts';
import type { TypedChange } from '../../api/types.ts';
import { change as words } from '../../texts/change.ts';
import { texts } from '../../texts/texts.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Lines } from '../../ui/lines.tsx';
import { EditChanges } from './edit-changes.tsx';

interface NotUnderstoodProps {
  readonly problem: Problem;
  /** Plans another sentence; without one, the same with the changes. */
  readonly plan: (sentence: string | undefined, changes?: readonly TypedChange[]) => void;
}

/** Why a sentence is not planned, what to answer, and what can be planned instead. */
export function NotUnderstood({ problem, plan }: NotUnderstoodProps) {
  const isEditing = useSignal(false);
  const { more, message, requestId } = problem;
  const reason = typeof more['reason'] === 'string' ? more['reason'] : message;
  const questions = problem.listed('questions');
  const choices = problem.listed('choices');
  const warnings = problem.listed('warnings');
  const changes = Array.isArray(more['changes']) ? (more['changes'] as TypedChange[]) : [];
  return (
    <section class="panel stack" role="alert" aria-label={words.notUnderstood}>
      <h2>{words.notUnderstood}</h2>
      <p class="break">{reason}</p>
      {questions.length > 0 && (
        <div class="stack-small">
          <p>{words.asked}</p>
          <Lines lines={questions} />
        </div>
      )}
      {choices.length > 0 && (
        <div class="stack-small">
          <p>{words.choices}</p>
          <ul class="stack-small">
            {choices.map((choice) => (
              <li key={choice}>
                <button type="button" class="sentence" onClick={() => plan(choice)}>
                  {words.choose(choice)}
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
      {warnings.length > 0 && (
        <div class="notice warn">
          <Lines lines={warnings} />
        </div>
      )}
      {changes.length > 0 && !isEditing.value && (
        <div class="row">
          <span>{words.understood}</span>
          <button type="button" onClick={() => (isEditing.value = true)}>
            {words.useUnderstood}
          </button>
        </div>
      )}
      {isEditing.value && <EditChanges changes={changes} plan={(edited) => plan(undefined, edited)} />}
      {requestId && (
        <p class="small dim">
          {texts.problem.request} <code>{requestId}</code> <CopyButton text={requestId} />
        </p>
      )}
    </section>
  );
}
