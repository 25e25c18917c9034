import type { Overview } from '../../api/types.ts';
import { linkTo } from '../../route/route.ts';
import { hideSetup, isSetupHidden, stepsOf } from '../../setup.tsx';

/** Leads to the setup until all of it is done, or it is put away. */
export function SetupLine({ overview }: { overview: Overview }) {
  const steps = stepsOf(overview);
  const undone = steps.filter(({ isDone }) => !isDone);
  const [next] = undone;
  if (!next || isSetupHidden()) return null;
  return (
    <section class="notice one-line" aria-label="Setup">
      <span>
        <strong>{`Setup: ${steps.length - undone.length} of ${steps.length} steps done.`}</strong> Next:{' '}
        {next.title.toLowerCase()}.
      </span>
      <a class="button primary push" href={linkTo('setup')}>
        Continue setup
      </a>
      <button type="button" class="quiet" aria-label="Hide the setup" onClick={hideSetup}>
        Hide
      </button>
    </section>
  );
}
