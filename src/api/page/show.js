// What the page shows of what it knows.
import { assetsCard } from './assets.js';
import { become, glyph, h, keepingPlace } from './dom.js';
import { healthOf } from './health.js';
import { clockTime, command, told } from './parts.js';
import { runsCard } from './runs.js';
import { LOST_MS, state } from './state.js';
import { say, spoken } from './words.js';
import { workflowsCard } from './workflows.js';

const root = document.documentElement;
export const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

export const render = () =>
  keepingPlace(() => {
    become(byId('top'), h('header', { class: 'top', id: 'top' }, top()));
    become(byId('main'), h('main', { id: 'main', tabindex: -1 }, content()));
    const { count } = healthOf(state);
    document.title = `${count > 0 ? `● ${count} – ` : ''}${state.project === null ? '' : `${state.project} – `}Sluice`;
  });

const top = () => {
  const dark = root.dataset['theme'] === 'dark';
  const theme = say(dark ? 'toLight' : 'toDark');
  const live = state.live === 'LIVE';
  return [
    h('a', { class: 'skip', href: '#main' }, say('skip')),
    h('span', { class: 'brand' }, glyph('gate'), 'Sluice'),
    state.project !== null && [h('span', { class: 'sep', 'aria-hidden': 'true' }, '/'), projectChoice()],
    h('span', { class: 'rest' }),
    state.stage === 'READ' &&
      h('span', { class: live ? 'live' : 'live not', role: 'status' }, say(live ? 'live' : 'notLive')),
    h(
      'button',
      {
        class: 'tool',
        type: 'button',
        'data-do': 'language',
        lang: spoken() === 'en' ? 'zh-CN' : 'en',
        'aria-label': say('toChineseLabel'),
      },
      say('toChinese'),
    ),
    h(
      'button',
      { class: 'tool', type: 'button', 'data-do': 'theme', 'aria-label': theme, title: theme },
      glyph(dark ? 'sun' : 'moon'),
    ),
  ];
};

const projectChoice = () => {
  if (state.projects.length < 2) return h('b', {}, state.project);
  const choices = state.projects.map(({ name }) =>
    h('option', { value: name, selected: name === state.project }, name),
  );
  return h('select', { id: 'project', 'aria-label': say('project') }, choices);
};

const content = () => {
  if (state.stage === 'SIGN') return signForm();
  if (state.stage === 'READING') return h('p', { class: 'dim' }, say('loading'));
  const { verdict, numbers } = healthOf(state);
  const nothing = state.assets.length === 0 && state.workflows.length === 0;
  return [
    trouble(),
    h(
      'div',
      { class: 'head', 'data-key': 'head' },
      h('h1', { 'aria-live': 'polite' }, verdict),
      numbers !== null && h('p', {}, numbers),
    ),
    nothing
      ? h(
          'section',
          { class: 'card', 'data-key': 'empty' },
          h(
            'p',
            { class: 'empty' },
            told('declare', { command: command('sluice apply -f FILE') }),
            ' ',
            say('otherwise'),
          ),
        )
      : h('div', { class: 'lists', 'data-key': 'lists' }, assetsCard(state), workflowsCard(state), runsCard(state)),
  ];
};

/** What keeps the page from being true. */
const trouble = () => {
  const text =
    state.problem !== null
      ? say('failed', { detail: state.problem })
      : state.live === 'CROWDED'
        ? say('polling')
        : state.live === 'LOST' && Date.now() - state.lostSince > LOST_MS
          ? say('lost', { time: clockTime(new Date(state.lostSince).toISOString()) })
          : null;
  return text !== null && h('p', { class: 'bar', role: 'status', 'data-key': 'bar' }, text);
};

const signForm = () =>
  h(
    'form',
    { class: 'card sign', id: 'sign', 'data-key': 'sign' },
    h('h1', {}, say('signTitle')),
    h('p', {}, told('signText', { file: command('admin.token'), command: command('sluice open') })),
    h('label', { for: 'token' }, say('token')),
    h(
      'div',
      { class: 'row' },
      h('input', {
        id: 'token',
        type: 'password',
        autocomplete: 'off',
        required: true,
        'aria-describedby': state.wrong ? 'wrong' : null,
        'aria-invalid': state.wrong ? 'true' : null,
      }),
      h('button', { class: 'btn main', type: 'submit' }, say('signIn')),
    ),
    state.wrong && h('p', { class: 'wrong', id: 'wrong', role: 'alert' }, say('signWrong')),
  );
