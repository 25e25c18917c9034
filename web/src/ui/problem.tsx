import type { Problem } from '../api/problem.ts';
import { texts } from '../texts/texts.ts';
import { CopyButton } from './copy.tsx';

/** What happened, what to do, and the id under which the control plane has logged it. */
export function ProblemNotice({ problem, again }: { problem: Problem | undefined; again?: (() => void) | undefined }) {
  if (!problem) return null;
  const { title, message, errors, requestId } = problem;
  return (
    <div class="notice danger" role="alert">
      <strong>{title}</strong>
      {message !== '' && <span class="break">{message}</span>}
      {errors
        .filter(({ detail }) => !message.includes(detail))
        .map(({ pointer, detail }) => (
          <span key={pointer} class="break">
            <code>{pointer}</code> {detail}
          </span>
        ))}
      {requestId && (
        <span class="small dim">
          {texts.problem.request} <code>{requestId}</code> <CopyButton text={requestId} />
        </span>
      )}
      {again && (
        <button type="button" class="quiet" onClick={again}>
          {texts.problem.again}
        </button>
      )}
    </div>
  );
}
