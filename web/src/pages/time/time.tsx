import { useComputed } from '@preact/signals';
import { route, setQuery } from '../../route/route.ts';
import { texts } from '../../texts/texts.ts';
import { time } from '../../texts/time.ts';
import { Page } from '../../ui/page.tsx';
import { RangeControl, useRange } from '../../ui/range.tsx';
import { ChangeList } from './change-list.tsx';
import { Compare } from './compare.tsx';
import './time.css';

/** What happened in a range: change by change, or as the difference between its two ends. */
export default function TimePage() {
  const range = useRange('day');
  const view = useComputed(() => (route.value.query.get('view') === 'compare' ? 'compare' : 'changes'));
  return (
    <Page title={texts.shell.pages.time} actions={<RangeControl range={range.value} />}>
      <fieldset class="row">
        <legend class="visually-hidden">{time.view}</legend>
        {(['changes', 'compare'] as const).map((name) => (
          <button
            key={name}
            type="button"
            class={view.value === name ? 'chosen' : 'quiet'}
            aria-pressed={view.value === name}
            onClick={() => setQuery({ view: name === 'compare' ? name : undefined })}
          >
            {time.views[name]}
          </button>
        ))}
      </fieldset>
      {view.value === 'compare' ? <Compare range={range} /> : <ChangeList range={range} />}
    </Page>
  );
}
