# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 the lttng-spi authors
"""A browser for tests: Debian's chromium without a window, driven by chromedriver over loopback (WebDriver)."""
import base64
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
KEYS = {'Enter': '\ue007', 'Escape': '\ue00c', 'ArrowLeft': '\ue012', 'ArrowRight': '\ue014'}
PATIENCE = float(os.environ.get('SPI_PATIENCE', '1'))


class Browser:
    """One chromium. dark: what it says to pages of the system's colours."""

    def __init__(self, directory, dark=False, size=(1280, 800)):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            port = s.getsockname()[1]
        self.profile = os.path.abspath(f'{directory}/profile-{port}')
        self.base = f'http://127.0.0.1:{port}'
        self.log = open(os.path.join(directory, f'driver-{port}.log'), 'w', encoding='utf-8')
        self.driver = subprocess.Popen(['chromedriver', f'--port={port}'], stdout=self.log, stderr=subprocess.STDOUT)
        self.session = None
        arguments = ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--hide-scrollbars',
                     '--use-angle=swiftshader',
                     '--enable-unsafe-swiftshader', '--no-first-run', '--disable-background-networking',
                     '--disable-component-update', '--force-device-scale-factor=1', '--enable-precise-memory-info',
                     f'--window-size={size[0]},{size[1]}', f'--user-data-dir={self.profile}']
        if dark:
            arguments.append('--force-dark-mode')
        want = {'browserName': 'chrome', 'goog:chromeOptions': {'args': arguments},
                'goog:loggingPrefs': {'browser': 'ALL', 'performance': 'ALL'}}
        answer = None
        self.wait(lambda: self.is_there(), 'chromedriver')
        answer = self.call('POST', '/session', {'capabilities': {'alwaysMatch': want}})
        self.session = answer['sessionId']
        self.devtools('Emulation.setEmulatedMedia',
                      {'features': [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]})
        self.devtools('Emulation.setDeviceMetricsOverride',
                      {'width': size[0], 'height': size[1], 'deviceScaleFactor': 1, 'mobile': False})

    def is_there(self):
        try:
            return self.call('GET', '/status')['ready']
        except OSError:
            return False

    def call(self, method, path, body=None):
        """A command of WebDriver: its value."""
        if self.session:
            path = f'/session/{self.session}{path}'
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {'Content-Type': 'application/json'}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)['value']['message'].split('\n')[0]) from None

    def devtools(self, command, parameters=None):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': parameters or {}})

    def wait(self, condition, what, seconds=20):
        end = time.monotonic() + seconds * PATIENCE
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise RuntimeError(f'not within {seconds * PATIENCE:.0f} s: {what}')
            time.sleep(0.02)

    def open(self, path):
        self.call('POST', '/url', {'url': 'file://' + os.path.abspath(path)})

    def run(self, script, *arguments):
        """JavaScript: what it returns."""
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def until(self, expression, seconds=20):
        return self.wait(lambda: self.run(f'return {expression}'), expression, seconds)

    def keys(self, *keys):
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{'type': 'keyDown', 'value': value}, {'type': 'keyUp', 'value': value}]
        self.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keyboard', 'actions': actions}]})

    def mouse(self, x, y, clicks=0):
        """The pointer goes there, and clicks."""
        actions = [{'type': 'pointerMove', 'duration': 0, 'x': int(x), 'y': int(y)}]
        for _ in range(clicks):
            actions += [{'type': 'pointerDown', 'button': 0}, {'type': 'pointerUp', 'button': 0}]
        self.call('POST', '/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'actions': actions}]})

    def wheel(self, x, y, by):
        self.call('POST', '/actions', {'actions': [{'type': 'wheel', 'id': 'wheel', 'actions': [
            {'type': 'scroll', 'x': int(x), 'y': int(y), 'deltaX': 0, 'deltaY': int(by), 'duration': 0}]}]})

    def picture(self, path):
        with open(path, 'wb') as file:
            file.write(base64.b64decode(self.call('GET', '/screenshot')))

    def messages(self):
        """What the pages said on the console since the last time, errors above all."""
        return [entry['message'] for entry in self.call('POST', '/se/log', {'type': 'browser'})]

    def requests(self):
        """Addresses that pages asked for since the last time."""
        found = []
        for entry in self.call('POST', '/se/log', {'type': 'performance'}):
            message = json.loads(entry['message'])['message']
            if message['method'] == 'Network.requestWillBeSent':
                found.append(message['params']['request']['url'])
        return [url for url in found if not url.startswith(('chrome:', 'data:', 'blob:'))]

    def memory(self):
        """Bytes of their own that the page's process has, of this browser's processes for pages the largest."""
        most = 0
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/cmdline', 'rb') as file:
                    line = file.read()
                if b'--type=renderer' not in line or self.profile.encode() not in line:
                    continue
                with open(f'/proc/{pid}/status', encoding='ascii') as file:
                    fields = dict(row.split(':', 1) for row in file)
                most = max(most, int(fields['RssAnon'].split()[0]) * 1024)
            except (OSError, KeyError):
                continue
        return most

    def close(self):
        try:
            if self.session:
                self.call('DELETE', '')
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait(10)
        self.log.close()
