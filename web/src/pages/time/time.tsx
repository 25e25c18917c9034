import { useComputed } from '@preact/signals';
import { route, setQuery } from '../../route/route.ts';
import { Page } from '../../ui/page.tsx';
import { RangeControl, useRange } from '../../ui/range.tsx';
import { PAGE_NAMES } from '../names.ts';
import { ChangeList } from './change-list.tsx';
import { Compare } from './compare.tsx';
import './time.css';

const VIEWS = { changes: 'Changes', compare: 'Compare start and end' } as const;

/** What happened in a range: change by change, or as the difference between its two ends. */
export default function TimePage() {
  const range = useRange('day');
  const view = useComputed(() => (route.value.query.get('view') === 'compare' ? 'compare' : 'changes'));
  return (
    <Page title={PAGE_NAMES.time.title} actions={<RangeControl range={range.value} />}>
      <fieldset class="row">
        <legend class="visually-hidden">View</legend>
        {(['changes', 'compare'] as const).map((name) => (
          <button
            key={name}
            type="button"
            class={view.value === name ? 'chosen' : 'quiet'}
            aria-pressed={view.value === name}
            onClick={() => setQuery({ view: name === 'compare' ? name : undefined })}
          >
            {VIEWS[name]}
          </button>
        ))}
      </fieldset>
      {view.value === 'compare' ? <Compare range={range} /> : <ChangeList range={range} />}
    </Page>
  );
}
