import { computed, signal, useSignal } from '@preact/signals';
import { waitingCount } from './api/waiting.ts';
import { Chip } from './design/chip.tsx';
import { Icon } from './design/icon.tsx';
import { isOffered, SECTIONS, type Section, tabsOf } from './pages/index.tsx';
import { titleOf } from './pages/names.ts';
import { PersonActions } from './person-menu.tsx';
import { linkTo } from './route/route.ts';
import { Dialog } from './ui/dialog.tsx';
import { PageTabs } from './ui/page-tabs.tsx';

const narrow = matchMedia('(max-width: 719px)');
const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

/** Sections with a page that the person may see. */
const offered = computed(() => SECTIONS.filter((section) => tabsOf(section).length > 0));

const isIn = ({ pages }: Section, current: string) => pages.some((name) => name === current);

/** The sections that the person may see: beside the content, or at the foot of a narrow window. */
export function Side({ current }: { current: string }) {
  return isNarrow.value ? <Foot current={current} /> : <Beside current={current} />;
}

/** The pages of the section that is open, where there are several. */
export function SectionTabs({ current }: { current: string }) {
  const section = offered.value.find((one) => isIn(one, current));
  const pages = section ? tabsOf(section) : [];
  if (!section || pages.length < 2) return null;
  const tabs = pages.map((name) => ({ name, title: titleOf(name), href: linkTo(name) }));
  return <PageTabs label={section.title} tabs={tabs} current={current} />;
}

function Beside({ current }: { current: string }) {
  return (
    <nav class="side" aria-label="Pages">
      <Sections current={current} />
    </nav>
  );
}

function Sections({ current, follow }: { current: string; follow?: () => void }) {
  return (
    <ul>
      {offered.value.map((section) => (
        <li key={section.title}>
          <SectionLink section={section} current={current} follow={follow} />
        </li>
      ))}
    </ul>
  );
}

interface SectionLinkProps {
  readonly section: Section;
  readonly current: string;
  readonly follow?: (() => void) | undefined;
}

function SectionLink({ section, current, follow }: SectionLinkProps) {
  const { title, icon } = section;
  const waiting = title === 'Review' ? waitingCount.value : 0;
  const [first = ''] = tabsOf(section);
  return (
    <a href={linkTo(first)} aria-current={isIn(section, current) ? 'page' : undefined} onClick={follow}>
      <Icon name={icon} />
      {title}
      {waiting > 0 && (
        <Chip tone="accent" isPushed>
          {waiting}
        </Chip>
      )}
    </a>
  );
}

function Foot({ current }: { current: string }) {
  const isOpen = useSignal(false);
  const close = () => {
    isOpen.value = false;
  };
  return (
    <nav class="side foot" aria-label="Pages">
      <ul>
        {offered.value
          .filter(({ isFirst }) => isFirst)
          .map((section) => (
            <li key={section.title}>
              <SectionLink section={section} current={current} />
            </li>
          ))}
        <li>
          <button
            type="button"
            class="quiet"
            aria-haspopup="dialog"
            onClick={() => {
              isOpen.value = true;
            }}
          >
            More
          </button>
        </li>
      </ul>
      {isOpen.value && (
        <Dialog title="More" close={close}>
          <Sections current={current} follow={close} />
          {isOffered('change') && (
            <a class="button" href={linkTo('change')} onClick={close}>
              <Icon name="plus" /> {titleOf('change')}
            </a>
          )}
          <PersonActions close={close} />
          <div class="row">
            <button type="button" class="quiet push" onClick={close}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </nav>
  );
}
