import type { Workflow } from '../../api/types.ts';
import { Actor } from '../../design/actor.tsx';
import { Chip } from '../../design/chip.tsx';
import { linkTo } from '../../route/route.ts';
import { Time } from '../../ui/time.tsx';

const SHOWN = 6;

/** The changes that people decided last. */
export function Decided({ workflows }: { workflows: readonly Workflow[] }) {
  const items = workflows.filter(({ status }) => status !== 'pending').slice(0, SHOWN);
  return (
    <section class="panel stack">
      <h2>Decided lately</h2>
      {items.length === 0 && <p class="dim">No change was put to a decision yet.</p>}
      <ul class="rows">
        {items.map(({ id, summary, status, reviewedBy, reviewedAt, requestedAt }) => (
          <li key={id}>
            <a href={linkTo('review', [id])} class="break">
              {summary}
            </a>
            <span class="row small dim">
              <Chip tone={status === 'executed' ? 'ok' : status === 'failed' ? 'danger' : ''}>{status}</Chip>
              {reviewedBy && <Actor actor={reviewedBy} />}
              <Time at={reviewedAt ?? requestedAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
