import type { FieldFault, Problem } from '../api/problem.ts';
import { CopyButton } from './copy.tsx';
import { NearNames } from './near-names.tsx';
import { clockTime } from './time.tsx';

interface ProblemNoticeProps {
  readonly problem: Problem | undefined;
  readonly again?: (() => void) | undefined;
  /** When what is shown all the same was answered, ms. */
  readonly shownAsOf?: number | undefined;
}

/** What happened, what to do, and the id under which the control plane has logged it. */
export function ProblemNotice({ problem, again, shownAsOf }: ProblemNoticeProps) {
  if (!problem) return null;
  const { title, requestId } = problem;
  const message = besideErrors(problem);
  const errors = problem.errors.filter(({ detail }) => !message.includes(detail));
  return (
    <div class="notice danger" role="alert">
      <strong>{title}</strong>
      {message !== '' && <span class="break">{message}</span>}
      <NearNames problem={problem} />
      {errors.length > 0 && (
        <ul>
          {errors.map((fault) => (
            <li key={JSON.stringify(fault)} class="break">
              <code>{placeOf(fault)}</code> {fault.detail}
            </li>
          ))}
        </ul>
      )}
      {shownAsOf !== undefined && <span>Showing data as of {clockTime(shownAsOf)}.</span>}
      {requestId && (
        <span class="small dim">
          Request <code>{requestId}</code> <CopyButton text={requestId} />
        </span>
      )}
      {again && (
        <button type="button" class="quiet" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** What is said besides the errors: its sentence repeats the first of them, each after its place. */
function besideErrors({ message, errors }: Problem): string {
  const rest = errors.reduce((text, fault) => {
    const { pointer, detail, document } = fault;
    const place = document ? `${document.kind} ${document.name}, ${pointer}` : pointer;
    return text.replace(`${place}: ${detail}`, '');
  }, message);
  return rest.trim();
}

/** `/spec/ingress/0` as `spec.ingress.0`, after the document where there are several. */
function placeOf({ pointer, document }: FieldFault): string {
  const field = pointer.slice(1).replaceAll('/', '.');
  return document ? `${document.kind} ${document.name} ${field}` : field;
}
