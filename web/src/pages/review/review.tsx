import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Workflow } from '../../api/types.ts';
import { workspaceId } from '../../api/workspace.ts';
import { Risk } from '../../effect/risk.tsx';
import { goTo, linkTo, route } from '../../route/route.ts';
import { texts } from '../../texts.ts';
import { isTyping } from '../../ui/keys.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { Decision } from './decision.tsx';

/** The queue of what waits, and one change with all that it takes to decide it. */
export default function Review() {
  const id = route.value.rest[0];
  const waiting = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/workflows', { params: { query: { status: 'pending', limit: 200 } } }));
  });
  const { value, problem, isLoading, reload } = waiting.value;
  const items = value?.items ?? [];
  useQueueKeys(items, id);
  return (
    <Page title={texts.review.title}>
      <ProblemNotice problem={problem} again={reload} />
      <div class={`queue ${id ? 'chosen' : ''}`}>
        <nav class="panel list" aria-label={texts.review.queue}>
          {items.length === 0 && !isLoading && <Empty>{texts.review.empty}</Empty>}
          <ul>
            {items.map((workflow) => (
              <li key={workflow.id}>
                <QueueLink workflow={workflow} isChosen={workflow.id === id} />
              </li>
            ))}
          </ul>
        </nav>
        {id ? <Decision key={id} id={id} /> : items.length > 0 && <p class="dim">{texts.review.pick}</p>}
      </div>
      <p class="dim small">{texts.review.keys}</p>
    </Page>
  );
}

function QueueLink({ workflow, isChosen }: { workflow: Workflow; isChosen: boolean }) {
  const { id, summary, riskLevel, requestedBy, requestedAt } = workflow;
  return (
    <a href={linkTo('review', [id])} aria-current={isChosen}>
      <span class="break">{summary}</span>
      <span class="row small dim">
        <Risk level={riskLevel} />
        <span class="break">{requestedBy}</span>
        <Time at={requestedAt} />
      </span>
    </a>
  );
}

/** `j` and `k` go through the queue; keys that are typed into a field are text. */
function useQueueKeys(items: readonly Workflow[], id: string | undefined): void {
  const latest = useSignal({ items, id });
  latest.value = { items, id };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || !['j', 'k'].includes(event.key)) return;
      const all = latest.value.items;
      const index = all.findIndex((workflow) => workflow.id === latest.value.id);
      const next = all[event.key === 'j' ? index + 1 : Math.max(0, index - 1)];
      if (next) goTo(linkTo('review', [next.id]));
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
