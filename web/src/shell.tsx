import { useSignal, useSignalEffect } from '@preact/signals';
import type { ComponentType } from 'preact';
import { askEdition, edition } from './api/edition.ts';
import { liveState, lostSince } from './api/live.ts';
import { reconnected } from './api/load.ts';
import { Problem } from './api/problem.ts';
import { me } from './api/session.ts';
import { holds, workspace } from './api/workspace.ts';
import { PutBackHost } from './effect/put-back-host.tsx';
import { NoWorkspace } from './no-workspace.tsx';
import { pageOf, titleOf } from './pages/index.tsx';
import { PaletteButton } from './palette/palette.tsx';
import { goTo, hrefOf, linkTo, route, setQuery } from './route/route.ts';
import { Side } from './side.tsx';
import { texts } from './texts/texts.ts';
import { TimeButton } from './time/time-button.tsx';
import { Account } from './ui/account.tsx';
import { Brand } from './ui/brand.tsx';
import { KeysHelp } from './ui/keys-help.tsx';
import { Page } from './ui/page.tsx';
import { ProblemNotice } from './ui/problem.tsx';
import { clockTime, exactTime, shortTime } from './ui/time.tsx';

export function Shell() {
  const name = route.value.page || 'home';
  const entry = pageOf(name);
  return (
    <div class="shell">
      <Top />
      <Side current={name} />
      <main id="content" class={`main ${entry?.isWide ? 'wide' : ''}`} tabIndex={-1}>
        {entry && !entry.hasPast && route.value.query.has('at') && (
          <p class="notice warn no-past">{texts.shell.noPast}</p>
        )}
        <LostNotice />
        <Content name={name} />
      </main>
      <PutBackHost />
      <KeysHelp />
    </div>
  );
}

/** On every page: that changes are not told any more, and since when. */
function LostNotice() {
  if (lostSince.value === undefined) return null;
  return <p class="notice warn">{texts.live.lostSince(clockTime(lostSince.value))}</p>;
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Top() {
  const { query } = route.value;
  const at = query.get('at');
  const all = me.value?.workspaces ?? [];
  return (
    <header class={`top ${at ? 'past' : ''}`}>
      <a class="button skip" href={location.hash} onClick={skip}>
        {texts.shell.skip}
      </a>
      <a class="brand" href={hrefOf({ workspace: workspace.value?.slug ?? '' })}>
        <Brand />
      </a>
      {all.length > 0 && (
        <select
          class="workspace"
          aria-label={texts.shell.workspace}
          value={workspace.value?.slug}
          onChange={({ currentTarget }) => goTo(hrefOf({ workspace: currentTarget.value, page: route.value.page }))}
        >
          {all.map(({ slug, displayName }) => (
            <option key={slug} value={slug}>
              {displayName === slug ? slug : `${displayName} (${slug})`}
            </option>
          ))}
        </select>
      )}
      <PaletteButton />
      {at && (
        <span class="row">
          <strong title={exactTime(at)}>
            {texts.shell.asOf(shortTime(at))} <span class="wide-only">{texts.shell.unchangeable}</span>
          </strong>
          <span class="small wide-only">{at}</span>
          <button type="button" onClick={() => setQuery({ at: undefined })}>
            {texts.shell.backToNow}
          </button>
        </span>
      )}
      <span class="row push">
        {holds('snapshots:read') && <TimeButton />}
        {workspace.value && (
          <span class={`live ${liveState.value}`} role="status">
            {texts.live[liveState.value]}
          </span>
        )}
        <span class="row wide-only">
          <Account />
        </span>
      </span>
    </header>
  );
}

function Content({ name }: { name: string }) {
  const entry = pageOf(name);
  const page = useSignal<{ readonly name: string; readonly Body: ComponentType } | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const again = useSignal(0);
  useSignalEffect(() => {
    const asked = route.value.page || 'home';
    again.value;
    reconnected.value;
    const found = pageOf(asked);
    problem.value = undefined;
    if (!found || page.peek()?.name === asked) return undefined;
    let isWanted = true;
    found
      .load()
      .then(({ default: Body }) => {
        if (isWanted) page.value = { name: asked, Body };
      })
      .catch(() => {
        if (isWanted) problem.value = new Problem({ ...texts.problem.noPage, code: 'page' });
      });
    return () => {
      isWanted = false;
    };
  });
  useSignalEffect(() => askEdition(pageOf(route.value.page)?.isPro === true));
  const reload = () => {
    again.value += 1;
  };
  if (!workspace.value) return <NoWorkspace />;
  if (!entry) return <Instead title={texts.shell.unknownPage} why={texts.shell.unknownPageWhy} />;
  const title = titleOf(name);
  if (entry.scope && !holds(entry.scope)) {
    return <Instead title={texts.shell.notYours} why={texts.shell.notYoursWhy(title, entry.scope)} />;
  }
  if (entry.isPro && edition.value === 'community') return <Instead title={title} why={texts.shell.proOnly} />;
  if (problem.value) return <ProblemNotice problem={problem.value} again={reload} />;
  if (page.value?.name !== name) return null;
  const { Body } = page.value;
  return <Body key={`${workspace.value.id} ${name}`} />;
}

/** What is said where a page is not shown. */
function Instead({ title, why }: { title: string; why: string }) {
  return (
    <Page title={title}>
      <p class="break">{why}</p>
      <p>
        <a href={linkTo('')}>{texts.shell.home}</a>
      </p>
    </Page>
  );
}
