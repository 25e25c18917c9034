import type { Problem } from '../../api/problem.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Lines } from '../../ui/lines.tsx';

interface NotUnderstoodProps {
  readonly problem: Problem;
  /** True while its draft is among the orders above. */
  readonly hasDraft: boolean;
  /** Plans another sentence. */
  readonly plan: (sentence: string) => void;
}

/** Why a sentence was not read, and its questions; the orders above are its draft. */
export function NotUnderstood({ problem, hasDraft, plan }: NotUnderstoodProps) {
  const { more, message, requestId } = problem;
  const reason = typeof more['reason'] === 'string' ? more['reason'] : message;
  const questions = problem.listed('questions');
  const choices = problem.listed('choices');
  const warnings = problem.listed('warnings');
  return (
    <section class="notice warn stack" role="alert" aria-label="Sentence not read">
      <div class="stack-small">
        <h2>Sentence not read</h2>
        <p class="break">{reason}</p>
        <Lines lines={questions} />
        <p>{hasDraft ? 'Complete the orders above, or write' : 'Write'} the sentence in other words.</p>
      </div>
      {choices.length > 0 && (
        <ul class="stack-small" aria-label="Sentences that are read">
          {choices.map((choice) => (
            <li key={choice}>
              <button type="button" class="sentence" onClick={() => plan(choice)}>
                Preview: {choice}
              </button>
            </li>
          ))}
        </ul>
      )}
      {warnings.length > 0 && <Lines lines={warnings} />}
      {requestId && (
        <p class="small dim">
          Request <code>{requestId}</code> <CopyButton text={requestId} />
        </p>
      )}
    </section>
  );
}
