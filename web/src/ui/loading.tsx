import type { Loaded } from '../api/load.ts';
import { texts } from '../texts/texts.ts';
import './loading.css';
import { ProblemNotice } from './problem.tsx';

/** In place of what is not read yet: that it is being read, or why it could not be. */
export function NotYet({ loaded: { problem, reload } }: { loaded: Pick<Loaded<unknown>, 'problem' | 'reload'> }) {
  if (problem) return <ProblemNotice problem={problem} again={reload} />;
  return (
    <p class="dim loading" role="status">
      {texts.common.loading}
    </p>
  );
}
