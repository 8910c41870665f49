// Every word on the page, in both languages: one word for one thing. `{name}` is a slot; `{n|table|tables}` is one of two by the number n.

const EN = {
  skip: 'Skip to the content',
  live: 'Live',
  notLive: 'Not live',
  toChinese: '中文',
  toChineseLabel: '切换到简体中文',
  toDark: 'Dark theme',
  toLight: 'Light theme',
  project: 'Project',
  loading: 'Reading…',
  lost: 'Not live since {time}: the server does not answer. What you see is from then; the page goes on trying.',
  polling: 'Too many pages follow this server. This one looks every 10 seconds instead.',
  failed: 'The server refused: {detail}',

  signTitle: 'Sluice asks for its token',
  signText:
    'It is in the file {file} of the server’s data folder (./.sluice unless told otherwise). The command {command} prints an address with it. This tab keeps it until it is closed.',
  token: 'Token',
  signIn: 'Open the page',
  signWrong: 'The server does not know this token. Copy the whole line of the file.',

  well: 'all is well',
  nothingYet: 'nothing is declared yet',
  unreadable: '{n} {n|table|tables} cannot be read',
  held: '{n} {n|table is|tables are} held until somebody decides',
  behind: '{n} {n|table is|tables are} behind',
  toApprove: '{n} schema {n|change waits|changes wait} for you',
  failedQuality: '{n} {n|table has|tables have} failed quality',
  failedRuns: 'the newest run of {n} {n|workflow|workflows} failed',
  summary:
    '{assets} {assets|table|tables}, {workflows} {workflows|workflow|workflows}, {running} {running|run|runs} under way.',
  notRead: '{n} {n|table was|tables were} not read yet.',
  declare: 'Say in a file which tables there are and what depends on them, then apply it: {command}',
  otherwise: 'The page shows it at once.',

  assets: 'Assets',
  asset: 'Asset',
  newest: 'Newest version',
  usable: 'Usable version',
  quality: 'Quality',
  schema: 'Schema',
  health: 'Health',
  looked: 'Looked at',
  find: 'Find a table',
  showAll: 'Show all {n}',
  noneFound: 'No table has “{text}” in its name. {clear}',
  clear: 'Show all tables',
  noneYet: 'none yet',
  never: 'never',
  pushed: 'by pushes',
  pushedLabel: 'Nobody looks: it lives from pushed events.',
  newRows: '{n} new',
  versionLabel: 'version {ordinal}, {id}{marks}',

  NEVER_READ: 'not read yet',
  OK: 'ok',
  BEHIND: 'behind',
  UNREADABLE: 'unreadable',
  HELD: 'held',
  PASSED: 'passed',
  FAILED: 'failed',
  UNKNOWN: 'unchecked',
  COMPATIBLE: 'compatible',
  PENDING_APPROVAL: 'to approve',
  REJECTED: 'rejected',
  unknownSchema: 'not known',

  workflows: 'Workflows and why',
  noTrigger: 'No table starts it. Start it by hand: {command}',
  offline: 'offline: its groups start nothing',
  ready: 'ready',
  waitsFor: 'waits for {what}',
  waitsForMany: 'waits for {n} conditions',
  oneGroup: 'all must hold',
  orGroup: 'or this one, on its own',
  holdCount: '{met} of {all} hold',
  needs: 'needs',
  now: 'now',
  then: 'then',
  since: 'since',
  code: 'code',
  didRun: 'Last started run {run} {time}.',
  whyDid: 'Why it did',
  neverRan: 'It has never started a run.',
  group: 'the group',

  holds: '{asset} holds',
  BLOCKED_BY_SNAPSHOT: '{asset} has {what|no new version}',
  BLOCKED_BY_OPERATION: '{asset} has {what|no commit of the operation asked for}',
  BLOCKED_BY_WATERMARK: '{asset} has {what|not reached the watermark}',
  BLOCKED_BY_QUALITY: '{asset} has {what|not passed quality}',
  BLOCKED_BY_SCHEMA: '{asset} does {what|not have the schema asked for}',
  BLOCKED_BY_TAG: '{asset} has {what|no such tag}',
  BLOCKED_BY_PARTITION: '{asset} has {what|not touched the partition}',
  BLOCKED_BY_FRESHNESS: '{asset} is {what|too old}',
  BLOCKED_BY_ROWS: '{asset} has {what|too few new rows}',
  BLOCKED_BY_BACKFILL: '{asset} does {what|not fit what is asked about backfill}',
  BLOCKED_BY_CDC_LAG: '{asset} is {what|behind its CDC feed}',
  BLOCKED_BY_UNKNOWN_ASSET: '{asset} is {what|not registered}',
  BLOCKED_BY_SOURCE: '{asset} was {what|not read yet}',
  BLOCKED_BY_ROLLED_BACK: '{asset} was {what|rolled back and has no commit since}',
  BLOCKED_BY_HOLD: '{asset} is {what|held until somebody decides}',
  BLOCKED_BY_PERMISSION: '{asset} may {what|not be read by this project}',
  BLOCKED_BY_QUIET_PERIOD: 'A table {what|moved a moment ago}: the quiet period lasts',
  BLOCKED_BY_MIN_INTERVAL: 'It is {what|too soon after the last run}',
  BLOCKED_BY_ACTIVE_RUN: 'A run of this group is {what|still under way}',
  BLOCKED_BY_PAUSED: 'It is {what|paused}; what arrives is kept',
  BLOCKED_BY_DISABLED: 'The group is {what|disabled}',
  BLOCKED_BY_NATIVE_DEPENDENCY: 'Another workflow is {what|not done yet}',
  BLOCKED_BY_WINDOW: 'It is {what|outside of the run window}',
  cannotRead: '{asset} {what|cannot be read}',
  blockedOtherwise: '{asset} does {what|not hold}',

  runs: 'Runs',
  run: 'Run',
  workflow: 'Workflow',
  state: 'State',
  read: 'This run read',
  startedBy: 'Started by',
  started: 'Started',
  took: 'Took',
  byGroup: 'group {group}',
  byPerson: 'a person',
  noRuns: 'There are no runs yet. A run starts when all conditions of a group hold, or by hand: {command}',
  showMore: 'Show earlier runs',
  triggerKey: 'trigger key',
  params: 'parameters',
  whyStarted: 'These held when it started.',
  task: 'Task',
  type: 'Type',
  attempt: 'Attempt',
  exit: 'Exit',
  reason: 'Why',
  log: 'Log',
  showLog: 'Show log',
  hideLog: 'Hide log',
  noTasks: 'No task has started yet.',
  taskWaits: '{task} waits for tables; no process runs meanwhile.',
  logOf: 'Log of {task}, attempt {attempt}',
  following: 'Following',
  ended: 'Ended',
  newLines: '{n} new {n|line|lines}',
  noOutput: 'It has written nothing.',
  noOutputYet: 'It has written nothing yet.',
  leftOut: 'The first {size} are left out here; the whole: {command}',

  SUBMITTED_SUCCESS: 'submitted',
  RUNNING_EXECUTION: 'running',
  READY_PAUSE: 'pausing',
  PAUSE: 'paused',
  READY_STOP: 'stopping',
  STOP: 'stopped',
  FAILURE: 'failed',
  SUCCESS: 'succeeded',
  SERIAL_WAIT: 'waiting in line',
  FAILOVER: 'being taken over',
  NEED_FAULT_TOLERANCE: 'being taken over',
  KILL: 'stopped',
  DELAY_EXECUTION: 'retrying',
  FORCED_SUCCESS: 'succeeded (forced)',
  DISPATCH: 'starting',
  WAITING: 'waiting',

  justNow: 'just now',
  ago: '{time} ago',
  seconds: '{n} s',
  minutes: '{n} min',
  hours: '{n} h',
  days: '{n} d',
};

/** @typedef {keyof typeof EN} Word */

/** @type {Readonly<Record<Word, string>>} */
const ZH = {
  skip: '跳到内容',
  live: '实时',
  notLive: '未实时',
  toChinese: 'EN',
  toChineseLabel: 'Switch to English',
  toDark: '深色主题',
  toLight: '浅色主题',
  project: '项目',
  loading: '正在读取…',
  lost: '{time} 起未实时：服务器没有应答。看到的是那时的内容，页面会继续尝试。',
  polling: '跟随这台服务器的页面太多，本页改为每 10 秒读取一次。',
  failed: '服务器拒绝了请求：{detail}',

  signTitle: 'Sluice 需要令牌',
  signText:
    '令牌在服务器数据目录（默认 ./.sluice）的文件 {file} 里。命令 {command} 会打印带令牌的地址。本标签页会保留它，直到关闭。',
  token: '令牌',
  signIn: '打开页面',
  signWrong: '服务器不认识这个令牌。请复制文件中的整行。',

  well: '一切正常',
  nothingYet: '还没有声明任何内容',
  unreadable: '{n} 张表读不到',
  held: '{n} 张表已暂停推进，待人处理',
  behind: '{n} 张表落后',
  toApprove: '{n} 个结构变更待审批',
  failedQuality: '{n} 张表质量未通过',
  failedRuns: '{n} 个工作流的最新运行失败',
  summary: '{assets} 张表，{workflows} 个工作流，{running} 个运行进行中。',
  notRead: '{n} 张表还没有读取过。',
  declare: '在文件中写明有哪些表、什么依赖它们，然后应用：{command}',
  otherwise: '页面会立即显示。',

  assets: '资产',
  asset: '资产',
  newest: '最新版本',
  usable: '可用版本',
  quality: '质量',
  schema: '结构',
  health: '健康',
  looked: '上次查看',
  find: '查找表',
  showAll: '显示全部 {n} 张',
  noneFound: '没有名称含“{text}”的表。{clear}',
  clear: '显示所有表',
  noneYet: '尚无',
  never: '从未',
  pushed: '靠推送',
  pushedLabel: '无人查看：它只由推送的事件更新。',
  newRows: '{n} 个新的',
  versionLabel: '版本 {ordinal}，{id}{marks}',

  NEVER_READ: '尚未读取',
  OK: '正常',
  BEHIND: '落后',
  UNREADABLE: '读不到',
  HELD: '待人处理',
  PASSED: '通过',
  FAILED: '未通过',
  UNKNOWN: '未检查',
  COMPATIBLE: '兼容',
  PENDING_APPROVAL: '待审批',
  REJECTED: '已拒绝',
  unknownSchema: '未知',

  workflows: '工作流与为什么',
  noTrigger: '没有表会启动它。手动启动：{command}',
  offline: '已下线：它的依赖组不会启动运行',
  ready: '已就绪',
  waitsFor: '等待 {what}',
  waitsForMany: '等待 {n} 个条件',
  oneGroup: '必须全部成立',
  orGroup: '或者这一组，单独成立即可',
  holdCount: '{all} 条中 {met} 条成立',
  needs: '需要',
  now: '现有',
  then: '当时',
  since: '自',
  code: '代码',
  didRun: '最近一次启动：运行 {run}，{time}。',
  whyDid: '为什么启动',
  neverRan: '它从未启动过运行。',
  group: '依赖组',

  holds: '{asset} 成立',
  BLOCKED_BY_SNAPSHOT: '{asset} {what|没有新版本}',
  BLOCKED_BY_OPERATION: '{asset} {what|没有所需操作的提交}',
  BLOCKED_BY_WATERMARK: '{asset} {what|水位未达到}',
  BLOCKED_BY_QUALITY: '{asset} {what|质量未通过}',
  BLOCKED_BY_SCHEMA: '{asset} {what|结构不符合要求}',
  BLOCKED_BY_TAG: '{asset} {what|没有所需的标签}',
  BLOCKED_BY_PARTITION: '{asset} {what|没有涉及所需分区}',
  BLOCKED_BY_FRESHNESS: '{asset} {what|太旧}',
  BLOCKED_BY_ROWS: '{asset} {what|新增行数不够}',
  BLOCKED_BY_BACKFILL: '{asset} {what|不符合回填要求}',
  BLOCKED_BY_CDC_LAG: '{asset} {what|CDC 落后}',
  BLOCKED_BY_UNKNOWN_ASSET: '{asset} {what|没有登记}',
  BLOCKED_BY_SOURCE: '{asset} {what|尚未读取}',
  BLOCKED_BY_ROLLED_BACK: '{asset} {what|已被回滚，之后没有提交}',
  BLOCKED_BY_HOLD: '{asset} {what|待人处理}',
  BLOCKED_BY_PERMISSION: '{asset} {what|本项目无权读取}',
  BLOCKED_BY_QUIET_PERIOD: '有表{what|刚刚推进}：静默期未结束',
  BLOCKED_BY_MIN_INTERVAL: '{what|距上次运行太近}',
  BLOCKED_BY_ACTIVE_RUN: '本组启动的运行{what|仍在进行}',
  BLOCKED_BY_PAUSED: '{what|已暂停}，新到的内容会保留',
  BLOCKED_BY_DISABLED: '依赖组{what|已停用}',
  BLOCKED_BY_NATIVE_DEPENDENCY: '另一个工作流{what|尚未完成}',
  BLOCKED_BY_WINDOW: '{what|不在运行时段内}',
  cannotRead: '{asset} {what|读不到}',
  blockedOtherwise: '{asset} {what|不成立}',

  runs: '运行',
  run: '运行',
  workflow: '工作流',
  state: '状态',
  read: '这次运行读取了',
  startedBy: '启动者',
  started: '开始',
  took: '用时',
  byGroup: '依赖组 {group}',
  byPerson: '人工',
  noRuns: '还没有运行。一个依赖组的条件全部成立时会启动运行，也可以手动启动：{command}',
  showMore: '显示更早的运行',
  triggerKey: '触发键',
  params: '参数',
  whyStarted: '启动时这些条件成立。',
  task: '任务',
  type: '类型',
  attempt: '尝试',
  exit: '退出码',
  reason: '原因',
  log: '日志',
  showLog: '显示日志',
  hideLog: '收起日志',
  noTasks: '还没有任务开始。',
  taskWaits: '{task} 在等待表，期间没有进程运行。',
  logOf: '{task} 第 {attempt} 次的日志',
  following: '跟随中',
  ended: '已结束',
  newLines: '{n} 行新内容',
  noOutput: '没有任何输出。',
  noOutputYet: '还没有输出。',
  leftOut: '这里略去了开头的 {size}；查看全部：{command}',

  SUBMITTED_SUCCESS: '排队中',
  RUNNING_EXECUTION: '运行中',
  READY_PAUSE: '正在暂停',
  PAUSE: '已暂停',
  READY_STOP: '正在停止',
  STOP: '已停止',
  FAILURE: '失败',
  SUCCESS: '成功',
  SERIAL_WAIT: '等待中',
  FAILOVER: '正在接管',
  NEED_FAULT_TOLERANCE: '正在接管',
  KILL: '已停止',
  DELAY_EXECUTION: '重试中',
  FORCED_SUCCESS: '强制成功',
  DISPATCH: '正在启动',
  WAITING: '等待中',

  justNow: '刚刚',
  ago: '{time}前',
  seconds: '{n} 秒',
  minutes: '{n} 分钟',
  hours: '{n} 小时',
  days: '{n} 天',
};

/** @typedef {'en' | 'zh-CN'} Language */

export const CATALOGUES = Object.freeze({ en: /** @type {Readonly<Record<Word, string>>} */ (EN), 'zh-CN': ZH });

/** @type {Language} */
let language = 'en';

/** @param {Language} chosen */
export const speak = (chosen) => void (language = chosen);

export const spoken = () => language;

const SLOT = /\{(\w+)(?:\|([^|}]*))?(?:\|([^}]*))?\}/g;

/**
 * A word or sentence with its slots filled, in pieces: texts and whatever the slots hold. A slot `{what|text}` with one text is handed that
 * text if it is a function: so the part of a sentence that matters can be marked.
 * @template T
 * @param {Word} word
 * @param {Readonly<Record<string, T | ((text: string) => T)>>} slots
 * @returns {(string | T)[]}
 */
export const pieces = (word, slots = {}) => {
  /** @type {(string | T)[]} */
  const parts = [];
  const template = CATALOGUES[language][word];
  let end = 0;
  for (const match of template.matchAll(SLOT)) {
    const [whole, name = '', one, many] = match;
    parts.push(template.slice(end, match.index), slot(slots[name], one, many));
    end = match.index + whole.length;
  }
  parts.push(template.slice(end));
  return parts.filter((part) => part !== '');
};

/**
 * @template T
 * @param {T | ((text: string) => T) | undefined} value
 * @param {string | undefined} one
 * @param {string | undefined} many
 * @returns {T | string}
 */
const slot = (value, one, many) => {
  if (one !== undefined && many !== undefined) return Number(value) === 1 ? one : many;
  if (typeof value === 'function') return /** @type {(text: string) => T} */ (value)(one ?? '');
  return value ?? one ?? '';
};

/**
 * The same as one text.
 * @param {Word} word
 * @param {Readonly<Record<string, string | number>>} slots
 */
export const say = (word, slots = {}) => pieces(word, slots).join('');

/**
 * A state or code in words; one that has none is shown as it is.
 * @param {string} code
 */
export const stateWord = (code) =>
  code in EN ? say(/** @type {Word} */ (code)) : code.toLowerCase().replaceAll('_', ' ');

/**
 * Several things as one sentence.
 * @param {readonly string[]} parts
 */
export const sentence = (parts) => {
  if (language === 'zh-CN') return `${parts.join('，')}。`;
  const text = parts.join(', ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};
