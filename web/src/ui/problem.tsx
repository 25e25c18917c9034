import type { Problem } from '../api/problem.ts';
import { CopyButton } from './copy.tsx';
import { placeText } from './field-faults.ts';
import { useUnmarked } from './form.tsx';
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
  const unmarked = useUnmarked(problem);
  if (!problem) return null;
  const { title, requestId } = problem;
  const message = besideErrors(problem, unmarked);
  const errors = unmarked.filter(({ detail }) => !message.includes(detail));
  const isAllMarked = message === '' && errors.length === 0 && problem.errors.length > 0;
  return (
    <div class="notice danger" role="alert">
      <strong>{isAllMarked ? 'Correct the marked fields.' : title}</strong>
      {message !== '' && <span class="break">{message}</span>}
      <NearNames problem={problem} />
      {errors.length > 0 && (
        <ul>
          {errors.map((fault) => (
            <li key={JSON.stringify(fault)} class="break">
              <strong>{placeText(fault)}</strong>: {fault.detail}
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

/** What is said besides the errors: its sentence repeats the first of them, each after its place, or one that a field shows. */
function besideErrors({ message, errors }: Problem, unmarked: Problem['errors']): string {
  const rest = errors.reduce((text, fault) => {
    const { pointer, detail, document } = fault;
    const place = document ? `${document.kind} ${document.name}, ${pointer}` : pointer;
    return text.replace(`${place}: ${detail}`, '');
  }, message);
  return errors.some((fault) => fault.detail === rest && !unmarked.includes(fault)) ? '' : rest.trim();
}
